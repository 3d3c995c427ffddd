package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// RunLog keeps, for each chat, a short record of what its runs came to, for
// later runs of the same chat. It is reference only: nothing is decided by it, and a
// crash may lose the newest entries, but none is wrong. It is safe for concurrent use.
type RunLog interface {
	// AddRun takes the entry of a run whose end is durable. It never waits.
	AddRun(key messages.ChatKey, entry RunEntry)
	// Runs are the entries of a chat, oldest first, with those added before the
	// call. Of the old ones there is one summary, at the head.
	Runs(ctx context.Context, key messages.ChatKey) ([]RunEntry, error)
}

// Kinds of [RunEntry].
const (
	RunEntryRun     = "run"
	RunEntrySummary = "summary" // of several runs
)

// RunEntry is one line of a run log. Members are only added.
type RunEntry struct {
	Kind string `json:"kind"`
	TS   int64  `json:"ts"` // of the end, Unix milliseconds; of a summary: of the newest

	RunID    string         `json:"runId,omitempty"`
	Result   journal.Result `json:"result,omitempty"`
	Request  string         `json:"request,omitempty"` // beginning of what was asked
	Answer   string         `json:"answer,omitempty"`  // beginning of what was said
	Calls    []RunCall      `json:"calls,omitempty"`   // the first ones
	More     int            `json:"moreCalls,omitempty"`
	Failures []string       `json:"failures,omitempty"`

	// Of a summary.
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
