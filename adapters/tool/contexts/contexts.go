// Package contexts has the tools with which the model leaves the working context of a chat and returns to an archived
// one: chat_context_new, _list, _load, _recall and _clear_active.
//
// Nothing is lost: the context that a chat leaves is archived completely, and every archived context can be loaded
// again. Reading uses only the archive. A switch is an order to the chat, which executes it after the step; so a call
// that switches must be the only one of its step.
package contexts

import (
	"crypto/rand"
	"embed"
	"errors"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The names of the tools.
const (
	NewName    = "chat_context_new"
	ListName   = "chat_context_list"
	LoadName   = "chat_context_load"
	RecallName = "chat_context_recall"
	ClearName  = "chat_context_clear_active"
)

// candidates is how many contexts are listed if a query has no clear match.
const candidates = 10

//go:embed *.md *.schema.json
var docs embed.FS

// errNotAlone is the error for a model that switches the context in a step with other calls.
var errNotAlone = errors.New("this call has to be the only one of its step; nothing was done, call it again alone")

// Options configure the tools. Store is required.
type Options struct {
	Store persistence.ContextStore
	Now   func() time.Time // defaults to time.Now
	Zone  *time.Location   // of the times that the model reads; defaults to the host's
	// Random makes the end of an id, at least 4 lowercase letters or digits. The default is 8 unpredictable ones.
	Random func() string
}

// Tools returns the tools of this package, in a fixed order.
func Tools(o Options) []tool.Tool {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Text
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return []tool.Tool{
		&leave{described("new", NewName, "Start a new context", false), o, messages.ContextNew},
		&leave{described("clear", ClearName, "Clear the context", false), o, messages.ContextClear},
		&list{described("list", ListName, "List earlier contexts", true), o},
		&load{described("load", LoadName, "Load an earlier context", false), o},
		&recall{described("recall", RecallName, "Read an earlier context", true), o},
	}
}

// described is a tool without side effects of its own: only the chat acts on its result, so a call may be repeated.
func described(file, name, title string, readOnly bool) tool.Described {
	return tool.DescribedBy(docs, file, &tool.Spec{Name: name, Title: title, ReadOnly: readOnly, Repeatable: true, Deadline: time.Minute})
}

// entry is a context as shown to the model.
type entry struct {
	ID             string `json:"contextId"`
	Title          string `json:"title"`
	CreatedAt      string `json:"createdAt"`
	ArchivedAt     string `json:"archivedAt"`
	SummaryPreview string `json:"summaryPreview"`
}

func (o Options) entries(items []journal.ContextItem) []entry {
	out := make([]entry, len(items))
	for i, item := range items {
		out[i] = entry{item.ID, item.Title, o.time(item.CreatedAt), o.time(item.ArchivedAt), item.SummaryPreview}
	}
	return out
}

func (o Options) time(ms int64) string {
	return time.UnixMilli(ms).In(o.Zone).Format("2006-01-02 15:04")
}

// order is a switch, with the id for the context that the chat leaves.
func (o Options) order(kind, reason string) messages.ContextSwitch {
	return messages.ContextSwitch{Kind: kind, ID: messages.NewContextID(o.Now(), o.Random()), Reason: reason}
}
