package length_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func history(n int) []journal.Turn {
	var out []journal.Turn
	for i := range n {
		out = append(out, journal.NewTurn(uimessage.Message{
			ID: strconv.Itoa(i), Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: strings.Repeat("word ", 100)}},
		}))
	}
	return out
}

func TestEstimate(t *testing.T) {
	const system = "Answer briefly."
	turns := history(4)
	var fresh length.Estimate
	upper := fresh.Tokens(turns, system)
	for _, tt := range []struct {
		name   string
		change func(e *length.Estimate)
		less   bool // than the upper bound
	}{
		{"nothing is known", func(*length.Estimate) {}, false},
		{"exact counts", func(e *length.Estimate) { e.Counted(5, []int{100, 100}) }, true},
		{"more counts than turns", func(e *length.Estimate) { e.Counted(5, []int{1, 1, 1, 1, 1}) }, false},
		{"the model's count", func(e *length.Estimate) { e.Report(uimessage.Usage{TotalTokens: 400}, 4, messages.Trim{}) }, true},
		{"the model's count of a shortened request", func(e *length.Estimate) {
			e.Report(uimessage.Usage{TotalTokens: 400}, 4, messages.Trim{Drop: 2})
		}, false},
		{"an implausible count", func(e *length.Estimate) { e.Report(uimessage.Usage{TotalTokens: 3}, 4, messages.Trim{}) }, false},
		{"a turn without its outputs", func(e *length.Estimate) { e.Aged(1, 10) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e length.Estimate
			e.Bound(turns, system)
			tt.change(&e)
			n := e.Tokens(turns, system)
			if less := n < upper; less != tt.less || n > upper {
				t.Errorf("%d tokens, the upper bound is %d", n, upper)
			}
			const large = 1 << 20
			if !e.Exceeds(n-1, turns, system) || e.Exceeds(large, turns, system) {
				t.Errorf("%d tokens do not exceed %d, or exceed %d", n, n-1, large)
			}
		})
	}
}

// The counts of turns that remain survive a compaction and the next load.
func TestEstimateAfterACompaction(t *testing.T) {
	turns := history(4)
	var e length.Estimate
	e.Bound(turns, "")
	e.Counted(0, []int{10, 20, 30})
	compacted := e.Compacted(2, 7)
	rest := append(history(1), turns[2:]...)
	for i, want := range []int{7, 30, 0} {
		if n := compacted.Known(i, rest[i]); n != want {
			t.Errorf("turn %d: %d tokens are known, want %d", i, n, want)
		}
	}
	kept := compacted.Kept(rest)
	restored := length.Restored(kept, rest)
	if a, b := compacted.Tokens(rest, ""), restored.Tokens(rest, ""); a != b {
		t.Errorf("%d tokens before the load and %d after it", a, b)
	}
	if other := length.Restored(kept, turns); other.Known(0, turns[0]) != 0 {
		t.Error("counts of another history are used")
	}
	if forgot := e.Compacted(4, 7); forgot.Known(0, turns[0]) != 0 {
		t.Error("turns that were not counted were replaced, and a count is known")
	}
}
