// Package bind finds what a person's words about requests for approval refer to: which message of the bot they reply
// to, and so which requests they may decide.
//
// Promises:
//
//   - It is pure. It uses no clock and does not depend on the order in which messages and receipts reached the
//     host, but only on the platform's own order of the messages in a chat.
//   - Words decide a request only if every message of a row that shows it in full was sent, and sent before the
//     words were written.
//   - A bare yes or no refers to the row it replies to or, if it is not a reply, to the last thing that the bot
//     said before it.
//   - A refusal that addresses the bot and is not a reply refers to all open requests, if any of them was shown.
//     This is the safe direction.
//   - A number decides a request if the row that showed it was completely sent before the words.
//   - Words that reply to a person's message decide nothing, and neither do words that reply to a message whose
//     author is unknown.
//
// Package reply interprets the words themselves.
package bind

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Row is an outbox row that showed requests in full.
type Row struct {
	Requests []string // their ids, in the order shown
	Pieces   []Piece  // all of them; if one has no order, the row is not used
	// Next is the order of the first message of the bot after the row, or 0 if none is known.
	Next int64
	// Doubt is set if the bot may have said something after the row, at an unknown position.
	Doubt bool
}

// Piece is a message of a row.
type Piece struct {
	ID    string
	Order int64
}

// Words are the position of a person's words in the platform's order, and what they reply to.
type Words struct {
	Order   int64  // 0 if unknown
	ReplyTo string // id of the message that they reply to; empty if they are not a reply
	// ToBot is set if the platform reports that message as the bot's.
	ToBot bool
	// Elsewhere is set if they reply to something outside of the chat.
	Elsewhere bool
	// InFlight is set if a message of the bot is being sent, or may have been sent at an unknown position.
	InFlight bool
}

// Said is what the words themselves say.
type Said struct {
	Approves bool
	// All is set if they are about everything that is open.
	All bool
	// Bare is set if they do not name what they are about.
	Bare bool
	// ToBot is set if they address the bot and were not merely overheard.
	ToBot bool
	// Only is set if they name the only request as such, like "this command", and not by its content.
	Only bool
	// Names are the ids of the requests that they name. If they are Bare and not All, these are the requests that they
	// would refer to as a reply to a list of what is open.
	Names []string
}

// Bound is what words may refer to.
type Bound struct {
	// Stray is set if they reply to something that is not known to be the bot's. They then decide nothing.
	Stray bool
	// Answers is set if they are a reply.
	Answers bool
	// List are the requests, as they were shown, that words refer to if they name none. If it is nil, such words
	// decide nothing.
	List []string
	// Seen are the requests that the words may name.
	Seen []string
}

// Of finds what words refer to.
func Of(rows []Row, w Words) Bound {
	if w.Elsewhere {
		return Bound{Stray: true}
	}
	var out Bound
	out.Answers = w.ReplyTo != ""
	out.Stray = out.Answers && !w.ToBot
	var last int64
	for _, r := range rows {
		end := r.end()
		if end == 0 || w.Order <= end {
			continue
		}
		for _, id := range r.Requests {
			if !slices.Contains(out.Seen, id) {
				out.Seen = append(out.Seen, id)
			}
		}
		switch {
		case out.Answers && r.holds(w):
			out.List, out.Stray = r.Requests, false
		case out.Answers:
		case end > last:
			last, out.List = end, nil
			if !w.InFlight && !r.Doubt && samePlace(end, w.Order) && (r.Next == 0 || w.Order < r.Next) {
				out.List = r.Requests
			}
		}
	}
	return out
}

// placeBits is the number of low bits of an order that count within one place. The higher bits identify the place.
const placeBits = messages.OrderBits

// end returns the order of the last piece, or 0 if a piece has no order.
func (r Row) end() int64 {
	var end int64
	for _, p := range r.Pieces {
		if p.Order <= 0 || p.ID == "" {
			return 0
		}
		end = max(end, p.Order)
	}
	return end
}

// holds reports whether the words reply to a piece of the row.
func (r Row) holds(w Words) bool {
	return slices.ContainsFunc(r.Pieces, func(p Piece) bool { return p.ID == w.ReplyTo && samePlace(p.Order, w.Order) })
}

// samePlace reports whether two orders are in the same place. Platforms only define an order within a place.
func samePlace(a, b int64) bool { return a>>placeBits == b>>placeBits }

// Decide returns which of the open requests the words decide, in the order of open. If it returns none, the words
// decide nothing, and the person who wrote them should see what is open.
//
// A refusal of everything is obeyed even if no list was shown, unless it replies to something else.
func Decide(b Bound, open []string, said Said) []string {
	switch {
	case b.Stray || len(open) == 0:
		return nil
	case said.All && !said.Bare && !said.Approves:
		return open
	case said.All && !said.Approves: // a bare no
		both := common(open, b.List)
		switch {
		case b.Answers:
			return both
		case len(both) > 0, said.ToBot && len(common(open, b.Seen)) > 0:
			return open // refusing is safe whatever was said or ended in between
		}
		return nil
	case said.All || said.Bare: // this depends on the list that was seen
		if !slices.Equal(b.List, open) {
			return nil
		}
		if said.All {
			return open
		}
	}
	if said.Only && (len(open) != 1 || b.Answers && !slices.Equal(b.List, open)) {
		return nil // it may mean another request that has ended
	}
	both := common(open, said.Names)
	if len(both) == 0 || len(both) != len(said.Names) || slices.ContainsFunc(both, func(id string) bool { return !slices.Contains(b.Seen, id) }) {
		return nil
	}
	return both
}

// common returns the members of a that are in b.
func common(a, b []string) []string {
	var out []string
	for _, id := range a {
		if slices.Contains(b, id) {
			out = append(out, id)
		}
	}
	return out
}
