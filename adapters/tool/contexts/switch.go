package contexts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/contextsearch"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// leave is chat_context_new or chat_context_clear_active.
type leave struct {
	tool.Described
	Options

	kind string
}

// left is the result when the chat leaves a context.
type left struct {
	ArchivedAs string `json:"archivedAs"`
	Note       string `json:"note"`
}

func (t *leave) Invoke(_ context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ Title, Reason string }
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	if !call.Run.Sole {
		return tool.Result{}, errNotAlone
	}
	order := t.order(t.kind, in.Reason)
	order.Title = in.Title
	r, err := tool.Answer(left{
		order.ID, "What was said before the current message is archived under this id and no longer in the conversation. Go on with the current message.",
	}, "archived as "+order.ID)
	r.Switch = order
	return r, err
}

// load is chat_context_load.
type load struct {
	tool.Described
	Options
}

// loaded is the result when a context is loaded.
type loaded struct {
	Loaded     entry  `json:"loaded"`
	ArchivedAs string `json:"archivedAs"`
	Note       string `json:"note"`
}

// choice is the result if no context matches clearly.
type choice struct {
	Note       string  `json:"note"`
	Candidates []entry `json:"candidates"`
}

func (t *load) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Query     string `json:"query"`
		ContextID string `json:"contextId"`
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	if !call.Run.Sole {
		return tool.Result{}, errNotAlone
	}
	in.ContextID = strings.TrimSpace(in.ContextID)
	if in.ContextID == "" && strings.TrimSpace(in.Query) == "" {
		return tool.Result{}, fmt.Errorf("%w: give a query or a contextId", tool.ErrInput)
	}
	items, err := t.Store.Contexts(ctx, call.Run.ChatKey)
	if err != nil {
		return tool.Result{}, fmt.Errorf("list the contexts: %w", err)
	}
	best, found := find(items, in.ContextID, in.Query)
	if !found {
		note := "No archived context is clearly meant, so nothing was loaded. Call again with the contextId of one of these, or ask."
		if len(best) == 0 {
			note = "This chat has no archived context."
		}
		return tool.Answer(choice{note, t.entries(best)}, "none is clearly meant")
	}
	if _, err := t.Store.ReadContext(ctx, call.Run.ChatKey, best[0].ID); err != nil {
		return tool.Result{}, fmt.Errorf("read the context: %w", err)
	}
	order := t.order(messages.ContextLoad, "")
	order.Load = best[0].ID
	r, err := tool.Answer(loaded{
		t.entries(best)[0], order.ID,
		"The messages before the current one are those of the loaded context now. What was there before is archived under archivedAs, if there was anything.",
	}, "loaded "+order.Load)
	r.Switch = order
	return r, err
}

// find returns the context with an id, or otherwise searches for a query.
func find(items []journal.ContextItem, id, query string) ([]journal.ContextItem, bool) {
	if id == "" {
		return contextsearch.Find(items, query, candidates)
	}
	for _, item := range items {
		if item.ID == id {
			return []journal.ContextItem{item}, true
		}
	}
	return items[:min(candidates, len(items))], false
}

// errNone is the error for a context that does not exist.
var errNone = errors.New("this chat has no context of that id; chat_context_list says which there are")
