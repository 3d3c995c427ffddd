package query

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// OutboxLine is one message that a chat has not delivered yet or has parked. Members are only ever added.
type OutboxLine struct {
	ChatKey   messages.ChatKey     `json:"chatKey"`
	Name      string               `json:"name,omitempty"` // as in [ChatLine]
	ID        string               `json:"id"`
	Kind      messages.OutboxKind  `json:"kind"`
	State     messages.OutboxState `json:"state"`
	Since     time.Time            `json:"since"`
	Tries     int                  `json:"tries"`
	LastError string               `json:"lastError,omitempty"`
	Maybe     bool                 `json:"maybe,omitempty"` // people may have received it already
	Parts     int                  `json:"parts,omitempty"` // already delivered to the platform
	Files     int                  `json:"files,omitempty"`
	RequestID string               `json:"requestId,omitempty"`
	From      string               `json:"from,omitempty"`
	Text      string               `json:"text,omitempty"`
}

// OutboxOrder tells a chat to retry or to drop its parked messages.
type OutboxOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	ID      string           `json:"id,omitempty"` // everything if empty
	Drop    bool             `json:"drop,omitempty"`
}

// OutboxResult is the result of an [OutboxOrder].
type OutboxResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	IDs     []string         `json:"ids"`
	// Reason says why nothing was done: not_found or not_parked.
	Reason string `json:"reason,omitempty"`
}

// Outbox lists the undelivered messages of chats. Chats without any are not opened.
func (d *Desk) Outbox(ctx context.Context, q Asked) ([]OutboxLine, error) {
	keys, err := d.owing(ctx, q)
	if err != nil {
		return nil, err
	}
	lines, err := each(ctx, d, keys, func(key messages.ChatKey) ([]OutboxLine, error) {
		reply, err := Ask[messages.OutboxReply](ctx, d.chat, messages.OutboxQuery{ChatKey: key})
		return linesOf(key, reply.Items), err
	})
	d.name(len(lines), func(i int) (messages.ChatKey, *string) { return lines[i].ChatKey, &lines[i].Name })
	return lines, err
}

// owing returns the chats that may have undelivered messages: those with a journal that is not empty.
func (d *Desk) owing(ctx context.Context, q Asked) ([]messages.ChatKey, error) {
	if q.ChatKey != "" {
		return []messages.ChatKey{q.ChatKey}, Present(d.store, q.ChatKey)
	}
	if d.store == nil {
		return nil, nil
	}
	var out []messages.ChatKey
	for key, err := range d.store.Chats(ctx) {
		if err != nil {
			return nil, err
		}
		if hasJournal(d.store, key) {
			out = append(out, key)
		}
	}
	return out, nil
}

// hasJournal reports whether a chat's journal has a record.
func hasJournal(store *filestore.Store, key messages.ChatKey) bool {
	dir, err := store.ChatDir(key)
	if err != nil {
		return false
	}
	f, err := os.Open(filepath.Join(dir, "messages", "journal.jsonl"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	first := make([]byte, 2)         // a record may begin with a space
	n, _ := f.Read(first)            // an empty file has no first byte
	return bytes.Contains(first[:n], []byte("{"))
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

// Settle has a chat retry or drop its parked messages.
func (d *Desk) Settle(ctx context.Context, o OutboxOrder) (OutboxResult, error) {
	if err := Present(d.store, o.ChatKey); err != nil {
		return OutboxResult{}, err
	}
	var order any = messages.RetryParked{ChatKey: o.ChatKey, By: d.said, ID: o.ID}
	if o.Drop {
		order = messages.DropParked{ChatKey: o.ChatKey, By: d.said, ID: o.ID}
	}
	reply, err := Ask[messages.ParkedSettled](ctx, d.chat, order)
	return OutboxResult{ChatKey: o.ChatKey, IDs: append([]string{}, reply.IDs...), Reason: reply.Reason}, err
}
