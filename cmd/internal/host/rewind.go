package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ErrNotAtRest says that a chat has turns or requests that only a host can settle.
var ErrNotAtRest = errors.New("the chat has something under way")

// RewindOrder is the body of POST /control/rewind.
type RewindOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Before  string           `json:"before"` // the first message that goes
}

// RewindResult says what became of it. Members are only added.
type RewindResult struct {
	ChatKey  messages.ChatKey `json:"chatKey"`
	Kept     int              `json:"kept"`
	Archived int              `json:"archived"`
	// Refused is busy or no_such_message; nothing was changed then.
	Refused string `json:"refused,omitempty"`
}

// Rewind archives the history of a chat from a message on, in a store that no
// host uses. It fails with [ErrNoSuchTurn], [ErrNotAtRest], [platform.ErrNotFound]
// if there is no such chat, and [persistence.ErrDamaged] if its history has to be
// repaired first; nothing is rewritten then.
func Rewind(ctx context.Context, store *filestore.Store, order RewindOrder, now time.Time) (out RewindResult, err error) {
	if err := present(store, order.ChatKey); err != nil {
		return RewindResult{}, err
	}
	c, err := store.OpenChat(ctx, order.ChatKey)
	if err != nil {
		return RewindResult{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	snap, err := c.Load(ctx)
	if err != nil {
		return RewindResult{}, err
	}
	state, err := journal.Replay(snap)
	if err != nil {
		return RewindResult{}, err
	}
	from := slices.IndexFunc(state.History, func(t journal.Turn) bool { return t.ID == order.Before })
	switch {
	case from < 0:
		return RewindResult{}, ErrNoSuchTurn
	case state.Run != nil || len(state.Open()) > 0 || len(state.OpenRequests()) > 0 || len(state.Due()) > 0:
		return RewindResult{}, ErrNotAtRest
	}
	out = RewindResult{ChatKey: order.ChatKey, Kept: from, Archived: len(state.History) - from}
	if !state.Clean() {
		if err := c.Fold(ctx, state.Fold(now.UnixMilli())); err != nil {
			return RewindResult{}, err
		}
		state.Folded()
	}
	turn := "a:" + string(order.ChatKey) + ":" + strings.ToLower(rand.Text())
	return out, c.Rewrite(ctx, state.Rewound(order.ChatKey, from, now, turn))
}

// rewind serves POST /control/rewind: the chat's own actor does it.
func (c *control) rewind(w http.ResponseWriter, r *http.Request) {
	var order RewindOrder
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&order); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	key, err := messages.ParseChatKey(string(order.ChatKey))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	out, err := c.host.rewind(r.Context(), key, order.Before)
	c.reply(w, out, err)
}

func (h *Host) rewind(ctx context.Context, key messages.ChatKey, before string) (RewindResult, error) {
	doc, err := h.chat(ctx, key)
	if err != nil {
		return RewindResult{}, err
	}
	out := RewindResult{ChatKey: key}
	from := slices.IndexFunc(doc.Messages, func(m uimessage.Message) bool { return m.ID == before })
	if from < 0 {
		out.Refused = "no_such_message"
		return out, nil
	}
	keep := ""
	if from > 0 {
		keep = doc.Messages[from-1].ID
	}
	for _, p := range h.ports { // any way to the router does
		switch err := p.port.Rewind(ctx, key, keep); {
		case errors.Is(err, platform.ErrBusy):
			out.Refused = "busy"
			return out, nil
		case err != nil:
			return RewindResult{}, err
		}
		out.Kept, out.Archived = from, len(doc.Messages)-from
		return out, nil
	}
	return RewindResult{}, platform.ErrUnavailable
}
