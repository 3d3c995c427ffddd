package agentcontext

import (
	"cmp"
	"slices"
	"sort"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// The most that a summary keeps of its runs.
const (
	summaryRequests = 20
	summaryFailures = 10
	summaryTools    = 30
)

// summarise makes one summary of entries, oldest first. A summary among them counts as the runs that
// it replaced. The same entries always give the same summary.
func summarise(entries []runlog.Entry) runlog.Entry {
	out := runlog.Entry{Kind: runlog.KindSummary}
	calls := map[string]int{}
	for _, e := range entries {
		out.TS = max(out.TS, e.TS)
		since := cmp.Or(e.Since, e.TS)
		out.Since = min(cmp.Or(out.Since, since), since)
		out.Failures = append(out.Failures, e.Failures...)
		if e.Kind == runlog.KindSummary {
			out.Runs += e.Runs
			out.Failed += e.Failed
			out.Requests = append(out.Requests, e.Requests...)
			for _, t := range e.Tools {
				calls[t.Name] += t.Calls
			}
			continue
		}
		out.Runs++
		if e.Result == journal.ResultFailed || e.Result == journal.ResultInterrupted {
			out.Failed++
		}
		if e.Request != "" {
			out.Requests = append(out.Requests, e.Request)
		}
		for _, c := range e.Calls {
			calls[c.Name]++
		}
	}
	for name, n := range calls {
		out.Tools = append(out.Tools, runlog.Count{Name: name, Calls: n})
	}
	sort.Slice(out.Tools, func(i, j int) bool {
		a, b := out.Tools[i], out.Tools[j]
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) < 0
	})
	out.Tools = out.Tools[:min(len(out.Tools), summaryTools)]
	out.Requests = newest(out.Requests, summaryRequests)
	out.Failures = newest(out.Failures, summaryFailures)
	return out
}

// newest returns the last n members of a list.
func newest(list []string, n int) []string {
	return slices.Clone(list[max(0, len(list)-n):])
}
