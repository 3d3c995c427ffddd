package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// estimate is how long a chat is for the model, as far as that is known without
// counting. A turn is counted once in its life: what a compaction counted goes with the
// turns that stay, and with the meta file over to the next activation.
type estimate struct {
	turns  []int // tokens of each turn of the history: bounds behind the first counts
	counts int   // of them, that are exact
	system int   // of text
	exact  bool  // system is counted
	text   string
	// reported is what the model said of its last request, which held covers turns.
	reported int64
	covers   int
}

// report takes what a model said of a request over that many turns. One that left
// turns out says nothing of them.
func (e *estimate) report(u uimessage.Usage, turns int, trim messages.Trim) {
	if e.reported, e.covers = u.TotalTokens, turns; trim != (messages.Trim{}) {
		e.reported, e.covers = 0, 0
	}
}

// tokens is never less than what the chat has, unless the model's own report says
// less.
func (e *estimate) tokens(history []journal.Turn, system string) int {
	e.bound(history, system)
	all, rest := e.system, 0
	for i, n := range e.turns {
		all += n
		if i >= e.covers {
			rest += n
		}
	}
	// A report of less than an eighth of what can be is none of these turns.
	if e.reported*8 < int64(all-rest) {
		return all
	}
	return min(all, int(e.reported)+rest)
}

// bound bounds what is not known.
func (e *estimate) bound(history []journal.Turn, system string) {
	if len(history) < len(e.turns) {
		*e = estimate{}
	}
	for _, t := range history[len(e.turns):] {
		e.turns = append(e.turns, tokens.Turn(t.Message, tokens.Bound))
	}
	if e.text != system || e.system == 0 {
		e.system, e.text, e.exact = tokens.Bound(system), system, false
	}
}

// counted takes what a compaction counted of system text and first turns.
func (e *estimate) counted(system int, turns []int) {
	if len(turns) < e.counts || len(turns) > len(e.turns) {
		return
	}
	if system > 0 {
		e.system, e.exact = system, true
	}
	e.turns = slices.Clone(e.turns)
	e.counts = copy(e.turns, turns)
}

// known is what a turn was counted as; 0: it was not.
func (e *estimate) known(i int, t journal.Turn) int {
	if i < e.counts {
		return e.turns[i]
	}
	return int(t.Meta.Tokens)
}

// knownSystem is what the system text was counted as; 0: it was not.
func (e *estimate) knownSystem() int {
	if e.exact {
		return e.system
	}
	return 0
}

// folded is the estimate once a summary of so many tokens stands in the place of the
// first turns.
func (e *estimate) folded(to, summary int) estimate {
	if to > e.counts {
		return estimate{}
	}
	next := *e
	next.turns = append([]int{summary}, e.turns[to:]...)
	next.counts, next.reported, next.covers = e.counts-to+1, 0, 0
	return next
}

// aged takes what a turn is without its large outputs.
func (e *estimate) aged(i, n int) {
	if e.reported, e.covers = 0, 0; i < len(e.turns) {
		e.turns = slices.Clone(e.turns)
		e.turns[i] = n
	}
}

// kept is what of the counts outlives the activation.
func (e *estimate) kept(history []journal.Turn) journal.TokenCounts {
	if e.counts == 0 || e.counts > len(history) || e.counts > journal.MaxTokenCounts {
		return journal.TokenCounts{}
	}
	return journal.TokenCounts{To: history[e.counts-1].ID, Each: slices.Clone(e.turns[:e.counts])}
}

// restored is an estimate of a history that an earlier activation counted in part.
func restored(k journal.TokenCounts, history []journal.Turn) estimate {
	if n := len(k.Each); n > 0 && n <= len(history) && history[n-1].ID == k.To {
		return estimate{turns: slices.Clone(k.Each), counts: n}
	}
	return estimate{}
}
