// Package bind says what a person's words about requests for approval are about: which
// message of the bot's they answer, and so which requests they may decide.
//
// Promises:
//
//   - It is pure: no clock, and nothing of the order in which messages and receipts
//     reached the host. Only the platform's own order of a chat's messages counts.
//   - Words decide no request before every message of a row that shows it whole is with
//     the platform, and none that they were written before.
//   - A mere yes or no is about the row that it answers, or, when it answers nothing,
//     about the last thing that the bot said before it.
//   - A refusal that turns to the bot and answers nothing is about all that is open, if
//     any of it was shown: that is the safe direction.
//   - A number decides if the row that showed it was with the platform whole before it.
//   - Words that answer a person's message decide nothing, and neither do those that
//     answer something of which nothing tells whose it is.
//
// What the words mean is the business of package reply.
package bind

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Row is a row that showed requests whole.
type Row struct {
	Requests []string // their ids, in the order shown
	Pieces   []Piece  // all of them; one without an order makes the row worthless
	// Next is the order of the first message of the bot's after the row; 0: none is known.
	Next int64
	// Doubt: the bot may have said something after the row, in a place that is not known.
	Doubt bool
}

// Piece is a message of a row.
type Piece struct {
	ID    string
	Order int64
}

// Words are where a person's words are in the platform's order, and what they answer.
type Words struct {
	Order   int64  // 0: not known
	ReplyTo string // id of the message that they answer; empty: none
	// ToBot: the platform says that this message is the bot's.
	ToBot bool
	// Elsewhere: they answer something that is not in the chat.
	Elsewhere bool
	// InFlight: a message of the bot's may be on its way or there, in a place that is not
	// known.
	InFlight bool
}

// Said is what words decide, by themselves.
type Said struct {
	Approves bool
	// All: everything that is open.
	All bool
	// Bare: the words do not name what they are about.
	Bare bool
	// ToBot: the words turn to the bot, and are not overheard.
	ToBot bool
	// Only: they name the only request as that, like "this command", and not by what it is.
	Only bool
	// Names are the ids of the requests that they name. Bare and not All: of those that
	// they would be about if they answered a list of what is open.
	Names []string
}

// Bound is what words may be about.
type Bound struct {
	// Stray: they answer something that is not known to be the bot's, and decide nothing.
	Stray bool
	// Answers: they answer a message of the bot's.
	Answers bool
	// List are the requests that words are about which name none, as they were shown;
	// nil: such words decide nothing.
	List []string
	// Seen are the requests that words may name.
	Seen []string
}

// Of finds what words are about.
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

// placeBits are the bits of an order that count within one place; those above name it.
const placeBits = messages.OrderBits

// end is the order of the last piece; 0: one of them has none.
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

// samePlace: the platform itself compares orders only within one place.
func samePlace(a, b int64) bool { return a>>placeBits == b>>placeBits }

// Decide says which of the open requests words decide, in the order in which they
// wait; none: they decide nothing, and whoever said them should see what is open.
//
// A refusal of everything needs no list: it may always be obeyed, unless it answers
// something else.
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
			return open // whatever was said or ended in between: to refuse is safe
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
		return nil // it may mean another one, which is over
	}
	both := common(open, said.Names)
	if len(both) == 0 || len(both) != len(said.Names) || slices.ContainsFunc(both, func(id string) bool { return !slices.Contains(b.Seen, id) }) {
		return nil
	}
	return both
}

// common are those of a that are in b.
func common(a, b []string) []string {
	var out []string
	for _, id := range a {
		if slices.Contains(b, id) {
			out = append(out, id)
		}
	}
	return out
}
