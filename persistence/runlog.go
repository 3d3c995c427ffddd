package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// RunLog stores, for each chat, a short record of the results of its runs, for later runs of the
// same chat. It is for reference only: no decision depends on it. A crash may lose the newest
// entries, but none is wrong. It is safe for concurrent use.
type RunLog interface {
	// AddRun adds the entry of a run whose end is durable. It never blocks.
	AddRun(key messages.ChatKey, entry runlog.Entry)
	// Runs returns the entries of a chat, oldest first, including those added before the call. Old
	// entries are replaced with one summary, at the head.
	Runs(ctx context.Context, key messages.ChatKey) ([]runlog.Entry, error)
}
