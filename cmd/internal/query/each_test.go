package query

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// A chat that cannot be read does not hide the others. Asked for by itself, it is an error.
func TestOneUnreadableChat(t *testing.T) {
	state := t.TempDir()
	for _, key := range []messages.ChatKey{"web-chat-bad", "web-chat-good"} {
		folder, err := chatpath.Encode(key)
		stdtest.Must(t, err)
		stdtest.Write(t, filepath.Join(state, "chat", folder, "messages", "journal.jsonl"), "{}\n")
	}
	store := filestoretest.In(t, state)
	var log bytes.Buffer
	d := New(state, store, nil, nil, slog.New(slog.NewTextHandler(&log, nil)), func(_ context.Context, q any) (any, error) {
		ask, _ := q.(messages.OutboxQuery)
		if ask.ChatKey == "web-chat-bad" {
			return messages.OutboxReply{ChatKey: ask.ChatKey, Err: "the chat's data cannot be read or written now"}, nil
		}
		return messages.OutboxReply{ChatKey: ask.ChatKey, Items: []messages.OutboxItem{{ID: "x", State: messages.OutboxParked}}}, nil
	}, nil)
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

// Lists mark the chats that an operator has paused.
func TestListsMarkPausedChats(t *testing.T) {
	state := t.TempDir()
	for key, preferences := range map[messages.ChatKey]string{"web-chat-a": `{"v":1,"title":"Roses","paused":true}`, "web-chat-b": `{"v":1,"title":"Tulips"}`} {
		folder, err := chatpath.Encode(key)
		stdtest.Must(t, err)
		stdtest.Write(t, filepath.Join(state, "chat", folder, "messages", "journal.jsonl"), "{}\n")
		stdtest.Write(t, filepath.Join(state, "chat", folder, "preferences.json"), preferences)
	}
	store := filestoretest.In(t, state)
	d := New(state, store, nil, nil, slog.New(slog.DiscardHandler), nil, nil)
	for who, desk := range map[string]*Desk{"commands": d, "the console": d.InConsole()} {
		lines, err := desk.Chats(t.Context(), Asked{})
		if err != nil || len(lines) != 2 {
			t.Fatalf("%s: %+v, %v", who, lines, err)
		}
		for _, l := range lines {
			if l.Paused != (l.ChatKey == "web-chat-a") || (l.Name != "") != desk.named {
				t.Errorf("%s: got %+v", who, l)
			}
		}
	}
}
