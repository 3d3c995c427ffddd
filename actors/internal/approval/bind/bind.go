// Package bind determines what a person's words about approval requests refer to: which message of
// the bot's they answer, and so which requests they may decide.
//
// Promises:
//
//   - It is pure: it uses no clock, and does not depend on the order in which messages and receipts
//     reached the host. Only the platform's own order of a chat's messages counts.
//   - Words decide a request only if every message of a row that shows it whole was delivered before
//     the words were written.
//   - A mere yes or no is about the row that it answers, or, when it answers nothing, about the last
//     thing that the bot said before it.
//   - A refusal that addresses the bot and answers nothing is about all open requests, if any of them
//     was shown: that is the safe direction.
//   - A number decides if the row that showed it was delivered whole before it.
//   - Words that answer a person's message decide nothing, and neither do those that answer a message
//     of unknown origin.
//
// What the words mean is determined by package reply.
package bind

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Row is a row that showed requests completely.
type Row struct {
	Requests []string // their ids, in the order shown
	Pieces   []Piece  // all of them; a piece without an order makes the row unusable
	// Next is the order of the first message of the bot's after the row, or 0 if none is known.
	Next int64
	// Doubt is set if the bot may have said something after the row, at an unknown position.
	Doubt bool
}

// Piece is a message of a row.
type Piece struct {
	ID    string
	Order int64
}

// Words are the position of a person's words in the platform's order, and what they answer.
type Words struct {
	Order   int64  // 0 if unknown
	ReplyTo string // id of the message that they answer; may be empty
	// ToBot is set if the platform says that this message is the bot's.
	ToBot bool
	// Elsewhere is set if they answer something outside the chat.
	Elsewhere bool
	// InFlight is set if a message of the bot's may have been delivered at an unknown position.
	InFlight bool
}

// Said is what words decide, regardless of what they answer.
type Said struct {
	Approves bool
	// All is set if they are about everything that is open.
	All bool
	// Bare is set if the words do not name what they are about.
	Bare bool
	// ToBot is set if the words address the bot and are not overheard.
	ToBot bool
	// Only is set if they refer to the only request as such, like "this command", and not by its
	// content.
	Only bool
	// Names are the ids of the requests that they name. If Bare and not All, they are those that the
	// words would be about if they answered a list of the open requests.
	Names []string
}

// Bound is what words may be about.
type Bound struct {
	// Stray is set if they answer a message that is not known to be the bot's; they decide nothing.
	Stray bool
	// Answers is set if they answer a message of the bot's.
	Answers bool
	// List are the requests, in the order shown, that words without names are about; if nil, such
	// words decide nothing.
	List []string
	// Seen are the requests that words may name.
	Seen []string
}

// Of determines what words are about.
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

// placeBits is the number of low bits that order messages within one address of a chat; the higher
// bits identify the address.
const placeBits = messages.OrderBits

// end is the order of the last piece, or 0 if a piece has none.
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

// holds reports whether the words answer a piece of the row.
func (r Row) holds(w Words) bool {
	return slices.ContainsFunc(r.Pieces, func(p Piece) bool { return p.ID == w.ReplyTo && samePlace(p.Order, w.Order) })
}

// samePlace reports whether two orders can be compared, which the platform does only within one
// address.
func samePlace(a, b int64) bool { return a>>placeBits == b>>placeBits }

// Decide says which of the open requests words decide, in queue order. If there are none, the words
// decide nothing, and their author should see what is open.
//
// A refusal of everything does not depend on a list: it is always safe, unless it answers something
// else.
func Decide(b Bound, open []string, said Said) []string {
	switch {
	case b.Stray || len(open) == 0:
		return nil
	case said.All && !said.Bare && !said.Approves:
		return open
	case said.All && !said.Approves: // a mere no
		both := common(open, b.List)
		switch {
		case b.Answers:
			return both
		case len(both) > 0, said.ToBot && len(common(open, b.Seen)) > 0:
			return open // refusing is safe, even if requests were added or ended in between
		}
		return nil
	case said.All || said.Bare: // it depends on the list that was seen
		if !slices.Equal(b.List, open) {
			return nil
		}
		if said.All {
			return open
		}
	}
	if said.Only && (len(open) != 1 || b.Answers && !slices.Equal(b.List, open)) {
		return nil // it may mean another request, which has ended
	}
	both := common(open, said.Names)
	if len(both) == 0 || len(both) != len(said.Names) || slices.ContainsFunc(both, func(id string) bool { return !slices.Contains(b.Seen, id) }) {
		return nil
	}
	return both
}

// common returns those of a that are in b.
func common(a, b []string) []string {
	var out []string
	for _, id := range a {
		if slices.Contains(b, id) {
			out = append(out, id)
		}
	}
	return out
}
