package bind

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// row is a row of pieces with these orders; their ids are the orders in words.
func row(requests string, orders ...int64) Row {
	r := Row{Requests: strings.Fields(requests)}
	for _, o := range orders {
		r.Pieces = append(r.Pieces, Piece{ID: fmt.Sprint(o), Order: o})
	}
	return r
}

func (r Row) next(order int64) Row { r.Next = order; return r }

func (r Row) doubtful() Row { r.Doubt = true; return r }

const moved = 1 << placeBits

func TestDecide(t *testing.T) {
	yes, no := Said{Approves: true, All: true, Bare: true}, Said{All: true, Bare: true}
	all, none := Said{Approves: true, All: true}, Said{All: true}
	toBot, only := Said{All: true, Bare: true, ToBot: true}, Said{Approves: true, Only: true, Names: []string{"a"}}
	name := func(ids string) Said { return Said{Approves: true, Names: strings.Fields(ids)} }
	this := func(id string) Said { return Said{Approves: true, Bare: true, Names: []string{id}} }
	shown := []Row{row("a", 10, 11, 12)}
	for _, tt := range []struct {
		name  string
		rows  []Row
		words Words
		open  string
		said  Said
		want  string
	}{
		{"yes right after it", shown, Words{Order: 13}, "a", yes, "a"},
		{"yes before its last piece", shown, Words{Order: 11}, "a", yes, ""},
		{"yes at its last piece's place", shown, Words{Order: 12}, "a", yes, ""},
		{"yes in no place", shown, Words{}, "a", yes, ""},
		{"yes to nothing shown", nil, Words{Order: 13}, "a", yes, ""},
		{"yes after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a", yes, ""},
		{"yes before other words", []Row{shown[0].next(15)}, Words{Order: 14}, "a", yes, "a"},
		{"yes in the place of other words", []Row{shown[0].next(14)}, Words{Order: 14}, "a", yes, ""},
		{"yes while something is sent", shown, Words{Order: 13, InFlight: true}, "a", yes, ""},
		{"yes after what may have been said", []Row{shown[0].doubtful()}, Words{Order: 13}, "a", yes, ""},
		{"yes to a story", shown, Words{Order: 13, Elsewhere: true}, "a", yes, ""},
		{"yes as an answer", []Row{shown[0].next(13)}, Words{Order: 20, ReplyTo: "12"}, "a", yes, "a"},
		{"yes as an answer to the first piece", shown, Words{Order: 20, ReplyTo: "10"}, "a", yes, "a"},
		{"yes as an answer before the last piece", shown, Words{Order: 11, ReplyTo: "10"}, "a", yes, ""},
		{"yes as an answer while something is sent", shown, Words{Order: 13, ReplyTo: "10", InFlight: true}, "a", yes, "a"},
		{"yes as an answer to somebody", shown, Words{Order: 13, ReplyTo: "9"}, "a", yes, ""},
		{"yes as an answer to a piece of before a move", shown, Words{Order: moved | 13, ReplyTo: "12"}, "a", yes, ""},
		{"yes after a move", shown, Words{Order: moved | 1}, "a", yes, ""},
		{"a number after a move", shown, Words{Order: moved | 1}, "a", name("a"), "a"},
		{"yes before the move that the row is behind", []Row{row("a", moved|1)}, Words{Order: 20}, "a", yes, ""},
		{"yes to a row without an order", []Row{row("a", 10, 0)}, Words{Order: 13}, "a", yes, ""},
		{"yes when another one is open", shown, Words{Order: 13}, "a b", yes, ""},
		{"yes when it is over and another one is open", shown, Words{Order: 13}, "b", yes, ""},
		{"yes to the second of two rows", []Row{shown[0].next(20), row("b", 20)}, Words{Order: 21}, "b", yes, "b"},
		{"yes to a row of two of which one is over", []Row{row("a b", 10)}, Words{Order: 13}, "a", yes, ""},
		{"no to a row of two", []Row{row("a b", 10)}, Words{Order: 13}, "a b", no, "a b"},
		{"no to a row of two of which one is over", []Row{row("a b", 10)}, Words{Order: 13}, "b", no, "b"},
		{"no to the last of two rows is about all", []Row{shown[0].next(20), row("b", 20)}, Words{Order: 21}, "a b", no, "a b"},
		{"no as an answer is about its row", []Row{shown[0].next(20), row("b", 20)}, Words{Order: 21, ReplyTo: "20"}, "a b", no, "b"},
		{"no after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a", no, ""},
		{"no to the bot after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a b", toBot, "a b"},
		{"no to the bot when nothing was shown", []Row{row("a", 20)}, Words{Order: 14}, "a", toBot, ""},
		{"no to the bot as an answer to other words", shown, Words{Order: 21, ReplyTo: "9", ToBot: true}, "a", toBot, ""},
		{"the only one after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a", only, "a"},
		{"the only one of two", []Row{row("a b", 10)}, Words{Order: 14}, "a b", only, ""},
		{"the only one as an answer to one that is over", []Row{shown[0].next(20), row("b", 20)}, Words{Order: 21, ReplyTo: "20"}, "a", only, ""},
		{"the only one before it was shown", []Row{row("a", 20)}, Words{Order: 14}, "a", only, ""},
		{"no as an answer to somebody", shown, Words{Order: 13, ReplyTo: "9"}, "a", no, ""},
		{"no to all after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a b", none, "a b"},
		{"no to all as an answer to somebody", shown, Words{Order: 14, ReplyTo: "9"}, "a", none, ""},
		{"yes to all of a list", []Row{row("a b", 10)}, Words{Order: 13}, "a b", all, "a b"},
		{"yes to all of a list that is not all", shown, Words{Order: 13}, "a b", all, ""},
		{"yes to all of a list that is more", []Row{row("a b", 10)}, Words{Order: 13}, "a", all, ""},
		{"yes to all in another order", []Row{row("b a", 10)}, Words{Order: 13}, "a b", all, ""},
		{"a number after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a b", name("a"), "a"},
		{"a number while something is sent", shown, Words{Order: 14, InFlight: true}, "a", name("a"), "a"},
		{"a number before its row was whole", shown, Words{Order: 11}, "a", name("a"), ""},
		{"a number that nothing showed", shown, Words{Order: 14}, "a b", name("b"), ""},
		{"numbers of which one was not shown", shown, Words{Order: 14}, "a b", name("a b"), ""},
		{"a number that is not open", shown, Words{Order: 14}, "b", name("a"), ""},
		{"a number as an answer to somebody", shown, Words{Order: 14, ReplyTo: "9"}, "a", name("a"), ""},
		{"a number as an answer to another row", []Row{shown[0].next(20), row("b", 20)}, Words{Order: 21, ReplyTo: "20"}, "a b", name("a"), "a"},
		{"a number as an answer to other words of the bot's", shown, Words{Order: 21, ReplyTo: "9", ToBot: true}, "a", name("a"), "a"},
		{"a number before its row, as an answer to the bot", []Row{row("a", 20)}, Words{Order: 10, ReplyTo: "9", ToBot: true}, "a", name("a"), ""},
		{"yes as an answer to other words of the bot's", shown, Words{Order: 21, ReplyTo: "9", ToBot: true}, "a", yes, ""},
		{"no as an answer to other words of the bot's", shown, Words{Order: 21, ReplyTo: "9", ToBot: true}, "a", no, ""},
		{"this, as an answer to other words of the bot's", shown, Words{Order: 21, ReplyTo: "9", ToBot: true}, "a", this("a"), ""},
		{"a number as an answer to its row", []Row{shown[0].next(20), row("b", 20)}, Words{Order: 21, ReplyTo: "12"}, "a b", name("a"), "a"},
		{"this, right after it", shown, Words{Order: 13}, "a", this("a"), "a"},
		{"this, after other words", []Row{shown[0].next(13)}, Words{Order: 14}, "a", this("a"), ""},
		{"this, of another list", []Row{row("a b", 10)}, Words{Order: 14}, "a", this("a"), ""},
		{"nothing is open", shown, Words{Order: 13}, "", yes, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(Decide(Of(tt.rows, tt.words), strings.Fields(tt.open), tt.said), " ")
			if got != tt.want {
				t.Errorf("decides %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever the bot said in any order, an approval is of an open request that was completely shown
// before the words, determined by what they answer, if anything; and a mere yes that answers
// nothing follows what showed the request, with no message of the bot's in between.
func TestRapidBinding(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type said struct {
			row   int // 0 means other words
			order int64
		}
		ids := []string{"a", "b", "c"}
		var rows []Row
		var all []said
		order := int64(0)
		for n := range rapid.IntRange(0, 5).Draw(rt, "rows") {
			r := Row{Requests: rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, 3, rapid.ID).Draw(rt, "requests")}
			for range rapid.IntRange(1, 3).Draw(rt, "pieces") {
				order += int64(rapid.IntRange(1, 3).Draw(rt, "gap"))
				r.Pieces = append(r.Pieces, Piece{ID: fmt.Sprint(order), Order: order})
				all = append(all, said{n + 1, order})
			}
			rows = append(rows, r)
			for range rapid.IntRange(0, 2).Draw(rt, "other words") {
				order += int64(rapid.IntRange(1, 3).Draw(rt, "gap"))
				all = append(all, said{0, order})
			}
		}
		for i := range rows {
			end := rows[i].end()
			for _, s := range all {
				if s.order > end && (rows[i].Next == 0 || s.order < rows[i].Next) {
					rows[i].Next = s.order
				}
			}
		}
		w := Words{Order: int64(rapid.IntRange(0, int(order)+3).Draw(rt, "place")), InFlight: rapid.Bool().Draw(rt, "in flight")}
		if rapid.Bool().Draw(rt, "answers") {
			w.ReplyTo, w.ToBot = fmt.Sprint(rapid.IntRange(1, int(order)+2).Draw(rt, "what")), rapid.Bool().Draw(rt, "the bot")
		}
		answersRow := slices.ContainsFunc(all, func(s said) bool { return s.row > 0 && fmt.Sprint(s.order) == w.ReplyTo })
		open := rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, 3, rapid.ID).Draw(rt, "open")
		what := Said{Approves: true, All: rapid.Bool().Draw(rt, "all"), Bare: rapid.Bool().Draw(rt, "bare")}
		if !what.All {
			what.Names = rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, 3, rapid.ID).Draw(rt, "names")
		}
		for _, id := range Decide(Of(rows, w), open, what) {
			ok := slices.Contains(open, id) && slices.ContainsFunc(rows, func(r Row) bool {
				last := r.Pieces[len(r.Pieces)-1].Order
				between := slices.ContainsFunc(all, func(s said) bool { return s.order > last && s.order <= w.Order })
				answers := slices.ContainsFunc(r.Pieces, func(p Piece) bool { return p.ID == w.ReplyTo })
				byNumber := !what.All && !what.Bare
				return slices.Contains(r.Requests, id) && last < w.Order &&
					(answers || w.ReplyTo == "" || byNumber && (w.ToBot || answersRow)) &&
					(answers || byNumber || !between && !w.InFlight)
			})
			if !ok {
				rt.Fatalf("%+v %+v approve %s of %v after %+v", w, what, id, open, rows)
			}
		}
	})
}
