package host

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// askChatFor bounds one question to one chat.
const askChatFor = 10 * time.Second

// OutboxLine is one message that a chat owes, or put aside. Members are only added.
type OutboxLine struct {
	ChatKey   messages.ChatKey     `json:"chatKey"`
	ID        string               `json:"id"`
	Kind      messages.OutboxKind  `json:"kind"`
	State     messages.OutboxState `json:"state"`
	Since     time.Time            `json:"since"`
	Tries     int                  `json:"tries"`
	LastError string               `json:"lastError,omitempty"`
	Maybe     bool                 `json:"maybe,omitempty"` // people may see it already
	Parts     int                  `json:"parts,omitempty"` // that are with the platform
	Files     int                  `json:"files,omitempty"`
	RequestID string               `json:"requestId,omitempty"`
	From      string               `json:"from,omitempty"`
	Text      string               `json:"text,omitempty"`
}

// OutboxOrder asks a host to take up, or to give up, what a chat put aside.
type OutboxOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	ID      string           `json:"id,omitempty"` // empty: everything
	Drop    bool             `json:"drop,omitempty"`
}

func (o OutboxOrder) chatKey() messages.ChatKey { return o.ChatKey }

// OutboxResult answers an [OutboxOrder].
type OutboxResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	IDs     []string         `json:"ids"`
	// Reason says why nothing was done: not_found, not_parked.
	Reason string `json:"reason,omitempty"`
}

// ReadOutbox lists what chats of a store owe while no host uses it: of one chat,
// or of all with an empty key. The others are not touched.
func ReadOutbox(ctx context.Context, store *filestore.Store, key messages.ChatKey) ([]OutboxLine, error) {
	keys, err := owing(ctx, store, key)
	if err != nil {
		return nil, err
	}
	return each(keys, func(key messages.ChatKey) ([]OutboxLine, error) {
		state, err := readState(ctx, store, key)
		if err != nil {
			return nil, err
		}
		return linesOf(key, machine.Outbox(state)), nil
	})
}

// owing are the chats that may owe something: those whose journal holds a record.
func owing(ctx context.Context, store *filestore.Store, key messages.ChatKey) ([]messages.ChatKey, error) {
	if key != "" {
		dir, err := store.ChatDir(key)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, platform.ErrNotFound
		}
		return []messages.ChatKey{key}, nil
	}
	var out []messages.ChatKey
	for key, err := range store.Chats(ctx) {
		if err != nil {
			return nil, err
		}
		if hasJournal(store, key) {
			out = append(out, key)
		}
	}
	return out, nil
}

// hasJournal reports that a chat's journal is not empty. Room that was made for
// it beforehand is.
func hasJournal(store *filestore.Store, key messages.ChatKey) bool {
	dir, err := store.ChatDir(key)
	if err != nil {
		return false
	}
	f, err := os.Open(filepath.Join(dir, "messages", "journal.jsonl"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read from
	first := make([]byte, 1)
	n, _ := f.Read(first) // nothing there: empty
	return n == 1 && first[0] != 0
}

func linesOf(key messages.ChatKey, items []messages.OutboxItem) []OutboxLine {
	var out []OutboxLine
	for _, i := range items {
		out = append(out, OutboxLine{
			ChatKey: key, ID: i.ID, Kind: i.Kind, State: i.State, Since: time.UnixMilli(i.Since).UTC(), Tries: i.Tries, LastError: i.LastError,
			Maybe: i.Maybe, Parts: i.Parts, Files: i.Files, RequestID: i.RequestID, From: i.From, Text: i.Text,
		})
	}
	return out
}

// outbox asks the chats that run here.
func (h *Host) outbox(ctx context.Context, key messages.ChatKey) ([]OutboxLine, error) {
	keys, err := owing(ctx, h.store, key)
	if err != nil {
		return nil, err
	}
	return each(keys, func(key messages.ChatKey) ([]OutboxLine, error) {
		reply, err := ask[messages.OutboxReply](ctx, h, messages.OutboxQuery{ChatKey: key})
		if err == nil && reply.Err != "" {
			err = errors.New(reply.Err)
		}
		return linesOf(key, reply.Items), err
	})
}

// settle has a chat take up or give up what it put aside.
func (h *Host) settle(ctx context.Context, o OutboxOrder) (OutboxResult, error) {
	if _, err := owing(ctx, h.store, o.ChatKey); err != nil {
		return OutboxResult{}, err
	}
	var order any = messages.RetryParked{ChatKey: o.ChatKey, By: "operator", ID: o.ID}
	if o.Drop {
		order = messages.DropParked{ChatKey: o.ChatKey, By: "operator", ID: o.ID}
	}
	reply, err := ask[messages.ParkedSettled](ctx, h, order)
	if err == nil && reply.Err != "" {
		err = errors.New(reply.Err)
	}
	return OutboxResult{ChatKey: o.ChatKey, IDs: append([]string{}, reply.IDs...), Reason: reply.Reason}, err
}

// ask asks a chat through the router.
func ask[T any](ctx context.Context, h *Host, question any) (T, error) {
	var none T
	answer, err := await(ctx, h.system.Root.RequestFuture(h.router, question, askChatFor))
	if err != nil {
		return none, err
	}
	reply, ok := answer.(T)
	if !ok {
		return none, platform.ErrUnavailable
	}
	return reply, nil
}

// outbox serves GET /control/outbox.
func (c *control) outbox(w http.ResponseWriter, r *http.Request) {
	serveList(c, w, r, c.host.outbox)
}

// settle serves POST /control/outbox.
func (c *control) settle(w http.ResponseWriter, r *http.Request) {
	serveOrder(c, w, r, c.host.settle)
}

func (c *control) reply(w http.ResponseWriter, doc any, err error) {
	switch {
	case errors.Is(err, platform.ErrNotFound):
		writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
	case err != nil:
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": err.Error()})
	default:
		writeJSON(w, http.StatusOK, doc)
	}
}
