// Package runlog defines the entries of a chat's run log: a short record of the results of its
// runs, for later runs of the same chat. It is for reference only: no decision depends on it. A
// crash may lose the newest entries, but none is wrong. It is pure; package agentcontext stores the
// entries.
package runlog

import "github.com/shipmyagent/shipmyagent/persistence/journal"

// Kinds of [Entry].
const (
	KindRun     = "run"
	KindSummary = "summary" // replaces several runs
)

// Entry is one line of a run log. Fields may be added but not removed.
type Entry struct {
	Kind string `json:"kind"`
	TS   int64  `json:"ts"` // of the end, Unix milliseconds; in a summary, of the newest

	RunID    string         `json:"runId,omitempty"`
	Result   journal.Result `json:"result,omitempty"`
	Request  string         `json:"request,omitempty"` // beginning of the request
	Answer   string         `json:"answer,omitempty"`  // beginning of the answer
	Calls    []Call         `json:"calls,omitempty"`   // the first ones
	More     int            `json:"moreCalls,omitempty"`
	Failures []string       `json:"failures,omitempty"`

	// Only in a summary.
	Since    int64    `json:"since,omitempty"` // TS of the oldest
	Runs     int      `json:"runs,omitempty"`
	Failed   int      `json:"failed,omitempty"` // runs
	Tools    []Count  `json:"tools,omitempty"`  // by number of calls
	Requests []string `json:"requests,omitempty"`
}

// Call is a tool call of a run.
type Call struct {
	Name  string `json:"name"`
	Input string `json:"input,omitempty"` // its beginning
	Error string `json:"error,omitempty"` // of a call that failed or was denied
}

// Count says how often a tool was called.
type Count struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}
