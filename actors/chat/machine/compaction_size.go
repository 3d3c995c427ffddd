package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// estimate is the size of a chat in tokens, as far as it is known without counting. Each turn is counted only once:
// counts of turns that stay survive compactions, and the meta file carries them to the next activation.
type estimate struct {
	turns  []int // tokens of each turn of the history: exact counts first, then upper bounds
	counts int   // number of exact counts
	system int   // tokens of text
	exact  bool  // system is an exact count
	text   string
	// reported is the model's count of its last request, which contained the first covers turns.
	reported int64
	covers   int
}

// report stores a model's count of a request that contained the given number of turns. A request that left out turns
// is ignored.
func (e *estimate) report(u uimessage.Usage, turns int, trim messages.Trim) {
	if e.reported, e.covers = u.TotalTokens, turns; trim != (messages.Trim{}) {
		e.reported, e.covers = 0, 0
	}
}

// tokens returns an upper bound of the chat's size, or less if the model reported less.
func (e *estimate) tokens(history []journal.Turn, system string) int {
	e.bound(history, system)
	all, rest := e.system, 0
	for i, n := range e.turns {
		all += n
		if i >= e.covers {
			rest += n
		}
	}
	// A report below an eighth of the upper bound cannot belong to these turns.
	if e.reported*8 < int64(all-rest) {
		return all
	}
	return min(all, int(e.reported)+rest)
}

// bound sets upper bounds for turns and system text that have not been counted.
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

// counted stores a compaction's exact counts of the system text and of the first turns.
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

// known returns the exact count of a turn, or 0.
func (e *estimate) known(i int, t journal.Turn) int {
	if i < e.counts {
		return e.turns[i]
	}
	return int(t.Meta.Tokens)
}

// knownSystem returns the exact count of the system text, or 0.
func (e *estimate) knownSystem() int {
	if e.exact {
		return e.system
	}
	return 0
}

// folded returns the estimate after a summary of the given size has replaced the first turns.
func (e *estimate) folded(to, summary int) estimate {
	if to > e.counts {
		return estimate{}
	}
	next := *e
	next.turns = append([]int{summary}, e.turns[to:]...)
	next.counts, next.reported, next.covers = e.counts-to+1, 0, 0
	return next
}

// aged stores the size of a turn without its large outputs.
func (e *estimate) aged(i, n int) {
	if e.reported, e.covers = 0, 0; i < len(e.turns) {
		e.turns = slices.Clone(e.turns)
		e.turns[i] = n
	}
}

// kept returns the counts that the next activation can use.
func (e *estimate) kept(history []journal.Turn) journal.TokenCounts {
	if e.counts == 0 || e.counts > len(history) || e.counts > journal.MaxTokenCounts {
		return journal.TokenCounts{}
	}
	return journal.TokenCounts{To: history[e.counts-1].ID, Each: slices.Clone(e.turns[:e.counts])}
}

// restored returns the estimate for a history that an earlier activation counted in part.
func restored(k journal.TokenCounts, history []journal.Turn) estimate {
	if n := len(k.Each); n > 0 && n <= len(history) && history[n-1].ID == k.To {
		return estimate{turns: slices.Clone(k.Each), counts: n}
	}
	return estimate{}
}
