package agentcontext

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// runEntry is the entry of the nth run; every fifth failed.
func runEntry(n int) persistence.RunEntry {
	e := persistence.RunEntry{
		Kind: persistence.RunEntryRun, TS: int64(1000 + n), RunID: fmt.Sprintf("r_%d", n), Result: journal.ResultDone,
		Request: fmt.Sprintf("ask %d", n), Calls: []persistence.RunCall{{Name: "look"}},
	}
	if n%5 == 0 {
		e.Result, e.Failures = journal.ResultFailed, []string{fmt.Sprintf("failed: cut %d", n)}
		e.Calls = append(e.Calls, persistence.RunCall{Name: "write", Error: "full"})
	}
	return e
}

func TestSummariseRuns(t *testing.T) {
	entries := []persistence.RunEntry{runEntry(4), runEntry(5), runEntry(6)}
	want := persistence.RunEntry{
		Kind: persistence.RunEntrySummary, TS: 1006, Since: 1004, Runs: 3, Failed: 1, Failures: []string{"failed: cut 5"},
		Tools: []persistence.RunCount{{Name: "look", Calls: 3}, {Name: "write", Calls: 1}}, Requests: []string{"ask 4", "ask 5", "ask 6"},
	}
	if diff := cmp.Diff(want, summarise(entries)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// Folding in any number of bites gives the same, and never more than its bounds.
func TestSummariseRunsInBites(t *testing.T) {
	var all []persistence.RunEntry
	for n := range 97 {
		all = append(all, runEntry(n+1))
	}
	want := summarise(all)
	if len(want.Requests) != 20 || want.Requests[19] != "ask 97" || len(want.Failures) != 10 || want.Runs != 97 || want.Failed != 19 {
		t.Errorf("summary of 97 runs: %+v", want)
	}
	for bite := 1; bite < len(all); bite++ {
		var got persistence.RunEntry
		var have []persistence.RunEntry
		for i := 0; i < len(all); i += bite {
			have = append(have, all[i:min(i+bite, len(all))]...)
			got = summarise(have)
			have = []persistence.RunEntry{got}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in bites of %d (-want +got):\n%s", bite, diff)
		}
	}
}
