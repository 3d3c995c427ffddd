package query

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// A chat that cannot be read does not hide the others. Asked for by itself, it is an error.
func TestOneUnreadableChat(t *testing.T) {
	state := t.TempDir()
	for _, key := range []messages.ChatKey{"web-chat-bad", "web-chat-good"} {
		folder, err := chatpath.Encode(key)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(state, "chat", folder, "messages", "journal.jsonl"), "{}\n")
	}
	store, err := filestore.Open(filestore.Options{Dir: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var log bytes.Buffer
	d := New(state, store, nil, nil, slog.New(slog.NewTextHandler(&log, nil)), func(_ context.Context, q any) (any, error) {
		ask, _ := q.(messages.OutboxQuery)
		if ask.ChatKey == "web-chat-bad" {
			return messages.OutboxReply{ChatKey: ask.ChatKey, Err: "the chat's data cannot be read or written now"}, nil
		}
		return messages.OutboxReply{ChatKey: ask.ChatKey, Items: []messages.OutboxItem{{ID: "x", State: messages.OutboxParked}}}, nil
	})
	lines, err := d.Outbox(t.Context(), Asked{})
	if err != nil || len(lines) != 1 || lines[0].ChatKey != "web-chat-good" {
		t.Errorf("all chats: %+v, %v", lines, err)
	}
	if !strings.Contains(log.String(), "web-chat-bad") {
		t.Errorf("the log does not name the chat: %s", &log)
	}
	if _, err := d.Outbox(t.Context(), Asked{ChatKey: "web-chat-bad"}); err == nil {
		t.Error("the chat itself: no error")
	}
}
