package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// each gathers what chats have to list, one chat after the other.
func each[T any](keys []messages.ChatKey, of func(messages.ChatKey) ([]T, error)) ([]T, error) {
	out := []T{}
	for _, key := range keys {
		lines, err := of(key)
		if err != nil {
			return nil, fmt.Errorf("chat %s: %w", key, err)
		}
		out = append(out, lines...)
	}
	return out, nil
}

// readState is a chat as its files have it, while no host uses the store.
func readState(ctx context.Context, store *filestore.Store, key messages.ChatKey) (state *journal.State, err error) {
	c, err := store.OpenChat(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	snap, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	return journal.Replay(snap)
}

// serveList serves a list: of the chat named key, or of all.
func serveList[T any](c *control, w http.ResponseWriter, r *http.Request, list func(context.Context, messages.ChatKey) ([]T, error)) {
	var key messages.ChatKey
	if text := r.URL.Query().Get("key"); text != "" {
		var err error
		if key, err = messages.ParseChatKey(text); err != nil {
			refuseOrder(w, err)
			return
		}
	}
	lines, err := list(r.Context(), key)
	c.reply(w, lines, err)
}

// toChat is an order to one chat.
type toChat interface{ chatKey() messages.ChatKey }

// serveOrder has a chat carry out the order that a request brings.
func serveOrder[O toChat, R any](c *control, w http.ResponseWriter, r *http.Request, carryOut func(context.Context, O) (R, error)) {
	const limit = 64 << 10
	var order O
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit)).Decode(&order); err != nil {
		refuseOrder(w, err)
		return
	}
	if _, err := messages.ParseChatKey(string(order.chatKey())); err != nil {
		refuseOrder(w, err)
		return
	}
	result, err := carryOut(r.Context(), order)
	c.reply(w, result, err)
}

func refuseOrder(w http.ResponseWriter, err error) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
}
