package query

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The outbox of all chats has a chat whose journal continues after a checkpoint.
func TestOutboxAfterACheckpoint(t *testing.T) {
	const key = messages.ChatKey("web-chat-a")
	state := t.TempDir()
	store := filestoretest.In(t, state)
	c, err := store.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	row := func(n int64) journal.Record {
		return journal.Record{N: n, TS: 1, Fact: journal.EgressQueued{Row: journal.Row{Key: journal.RowKey{MessageID: "a", N: int(n)}, Text: "hello"}}}
	}
	err = errors.Join(c.Append(t.Context(), row(1)), c.Checkpoint(t.Context(), journal.Checkpoint{Meta: journal.Meta{Version: 1, N: 1}}), c.Append(t.Context(), row(2)))
	stdtest.Must(t, err)
	d := New(state, store, nil, nil, slog.New(slog.DiscardHandler), func(context.Context, any) (any, error) {
		return messages.OutboxReply{Items: []messages.OutboxItem{{ID: "a/2"}}}, nil
	}, nil)
	if lines, err := d.Outbox(t.Context(), Asked{}); err != nil || len(lines) != 1 {
		t.Errorf("%+v, %v", lines, err)
	}
}
