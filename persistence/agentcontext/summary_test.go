package agentcontext

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// runEntry is the entry of the nth run; every fifth failed.
func runEntry(n int) runlog.Entry {
	e := runlog.Entry{
		Kind: runlog.KindRun, TS: int64(1000 + n), RunID: fmt.Sprintf("r_%d", n), Result: journal.ResultDone,
		Request: fmt.Sprintf("ask %d", n), Calls: []runlog.Call{{Name: "look"}},
	}
	if n%5 == 0 {
		e.Result, e.Failures = journal.ResultFailed, []string{fmt.Sprintf("failed: cut %d", n)}
		e.Calls = append(e.Calls, runlog.Call{Name: "write", Error: "full"})
	}
	return e
}

func TestSummariseRuns(t *testing.T) {
	entries := []runlog.Entry{runEntry(4), runEntry(5), runEntry(6)}
	want := runlog.Entry{
		Kind: runlog.KindSummary, TS: 1006, Since: 1004, Runs: 3, Failed: 1, Failures: []string{"failed: cut 5"},
		Tools: []runlog.Count{{Name: "look", Calls: 3}, {Name: "write", Calls: 1}}, Requests: []string{"ask 4", "ask 5", "ask 6"},
	}
	stdtest.Diff(t, "summary", want, summarise(entries))
}

// Folding in any number of bites gives the same, and never more than its bounds.
func TestSummariseRunsInBites(t *testing.T) {
	var all []runlog.Entry
	for n := range 97 {
		all = append(all, runEntry(n+1))
	}
	want := summarise(all)
	if len(want.Requests) != 20 || want.Requests[19] != "ask 97" || len(want.Failures) != 10 || want.Runs != 97 || want.Failed != 19 {
		t.Errorf("summary of 97 runs: %+v", want)
	}
	for bite := 1; bite < len(all); bite++ {
		var got runlog.Entry
		var have []runlog.Entry
		for i := 0; i < len(all); i += bite {
			have = append(have, all[i:min(i+bite, len(all))]...)
			got = summarise(have)
			have = []runlog.Entry{got}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in bites of %d (-want +got):\n%s", bite, diff)
		}
	}
}
