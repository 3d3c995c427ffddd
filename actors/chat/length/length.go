// Package length estimates how long a chat is, in tokens, without a tokenizer. The chat decides with it when to start a
// compaction, which then counts exactly and reports its counts back. It also estimates how much memory the chat uses.
package length

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Estimate is the size of a chat in tokens, as far as it is known without counting. Each turn is counted only once:
// counts of turns that stay survive compactions, and the meta file carries them to the next activation.
type Estimate struct {
	turns  []int // tokens of each turn of the history: exact counts first, then upper bounds
	counts int   // number of exact counts
	system int   // tokens of text
	exact  bool  // system is an exact count
	text   string
	// reported is the model's count of its last request, which contained the first covers turns.
	reported int64
	covers   int
}

// Report stores a model's count of a request that contained the given number of turns. A request that left out turns
// is ignored.
func (e *Estimate) Report(u uimessage.Usage, turns int, trim messages.Trim) {
	if e.reported, e.covers = u.TotalTokens, turns; trim != (messages.Trim{}) {
		e.reported, e.covers = 0, 0
	}
}

// Tokens returns an upper bound of the chat's size, or less if the model reported less.
func (e *Estimate) Tokens(history []journal.Turn, system string) int {
	e.Bound(history, system)
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

// Exceeds reports whether a chat may be longer than the budget for its system text and history.
func (e *Estimate) Exceeds(budget int, history []journal.Turn, system string) bool {
	return e.Tokens(history, system) > tokens.Budget(budget, e.system)
}

// Reported returns the model's count of its last request and how many turns that contained. The count is 0 if it is
// unknown.
func (e *Estimate) Reported() (count int64, turns int) { return e.reported, e.covers }

// Bound sets upper bounds for turns and system text that have not been counted.
func (e *Estimate) Bound(history []journal.Turn, system string) {
	if len(history) < len(e.turns) {
		*e = Estimate{}
	}
	for _, t := range history[len(e.turns):] {
		e.turns = append(e.turns, tokens.Turn(t.Message, tokens.Bound))
	}
	if e.text != system || e.system == 0 {
		e.system, e.text, e.exact = tokens.Bound(system), system, false
	}
}

// Counted stores a compaction's exact counts of the system text and of the first turns.
func (e *Estimate) Counted(system int, turns []int) {
	if len(turns) < e.counts || len(turns) > len(e.turns) {
		return
	}
	if system > 0 {
		e.system, e.exact = system, true
	}
	e.turns = slices.Clone(e.turns)
	e.counts = copy(e.turns, turns)
}

// Known returns the exact count of a turn, or 0.
func (e *Estimate) Known(i int, t journal.Turn) int {
	if i < e.counts {
		return e.turns[i]
	}
	return int(t.Meta.Tokens)
}

// KnownSystem returns the exact count of the system text, or 0.
func (e *Estimate) KnownSystem() int {
	if e.exact {
		return e.system
	}
	return 0
}

// Compacted returns the estimate after a summary of the given size has replaced the first turns.
func (e *Estimate) Compacted(to, summary int) Estimate {
	if to > e.counts {
		return Estimate{}
	}
	next := *e
	next.turns = append([]int{summary}, e.turns[to:]...)
	next.counts, next.reported, next.covers = e.counts-to+1, 0, 0
	return next
}

// Aged stores the size of a turn without its large outputs.
func (e *Estimate) Aged(i, n int) {
	if e.reported, e.covers = 0, 0; i < len(e.turns) {
		e.turns = slices.Clone(e.turns)
		e.turns[i] = n
	}
}

// Kept returns the counts that the next activation can use.
func (e *Estimate) Kept(history []journal.Turn) journal.TokenCounts {
	if e.counts == 0 || e.counts > len(history) || e.counts > journal.MaxTokenCounts {
		return journal.TokenCounts{}
	}
	return journal.TokenCounts{To: history[e.counts-1].ID, Each: slices.Clone(e.turns[:e.counts])}
}

// Restored returns the estimate for a history that an earlier activation counted in part.
func Restored(k journal.TokenCounts, history []journal.Turn) Estimate {
	if n := len(k.Each); n > 0 && n <= len(history) && history[n-1].ID == k.To {
		return Estimate{turns: slices.Clone(k.Each), counts: n}
	}
	return Estimate{}
}
