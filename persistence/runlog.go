package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// RunLog stores, for each chat, a short record of the results of its runs, for later runs of the
// same chat. It is for reference only: no decision depends on it. A crash may lose the newest
// entries, but none is wrong. It is safe for concurrent use.
type RunLog interface {
	// AddRun adds the entry of a run whose end is durable. It never blocks.
	AddRun(key messages.ChatKey, entry RunEntry)
	// Runs returns the entries of a chat, oldest first, including those added before the call. Old
	// entries are replaced with one summary, at the head.
	Runs(ctx context.Context, key messages.ChatKey) ([]RunEntry, error)
}

// Kinds of [RunEntry].
const (
	RunEntryRun     = "run"
	RunEntrySummary = "summary" // replaces several runs
)

// RunEntry is one line of a run log. Fields may be added but not removed.
type RunEntry struct {
	Kind string `json:"kind"`
	TS   int64  `json:"ts"` // of the end, Unix milliseconds; in a summary, of the newest

	RunID    string         `json:"runId,omitempty"`
	Result   journal.Result `json:"result,omitempty"`
	Request  string         `json:"request,omitempty"` // beginning of the request
	Answer   string         `json:"answer,omitempty"`  // beginning of the answer
	Calls    []RunCall      `json:"calls,omitempty"`   // the first ones
	More     int            `json:"moreCalls,omitempty"`
	Failures []string       `json:"failures,omitempty"`

	// Only in a summary.
	Since    int64      `json:"since,omitempty"` // TS of the oldest
	Runs     int        `json:"runs,omitempty"`
	Failed   int        `json:"failed,omitempty"` // runs
	Tools    []RunCount `json:"tools,omitempty"`  // by number of calls
	Requests []string   `json:"requests,omitempty"`
}

// RunCall is a tool call of a run.
type RunCall struct {
	Name  string `json:"name"`
	Input string `json:"input,omitempty"` // its beginning
	Error string `json:"error,omitempty"` // of a call that failed or was denied
}

// RunCount says how often a tool was called.
type RunCount struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}
