package query_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func turnOf(id string, role uimessage.Role, meta uimessage.Metadata, text string) uimessage.Message {
	return uimessage.Message{ID: id, Role: role, Metadata: meta.Raw(), Parts: []uimessage.Part{uimessage.Text{Text: text}}}
}

// compacted makes a chat whose beginning was archived twice.
func compacted(t *testing.T, store *filestore.Store, key messages.ChatKey) {
	t.Helper()
	c, err := store.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	summary := func(id, archive string) uimessage.Message {
		return turnOf(id, uimessage.RoleAssistant, uimessage.Metadata{
			Kind: uimessage.KindSummary, SourceRange: &uimessage.SourceRange{FromID: "u1", ToID: "u1", Count: 1},
			Extra: []uimessage.Member{{Name: "archive", Value: json.RawMessage(`"` + archive + `"`)}},
		}, "a summary")
	}
	done := uimessage.Metadata{Result: "done", Username: "ana", RequestID: "r", TS: 7}
	steps := []func() error{
		func() error {
			return c.AppendHistory(t.Context(), turnOf("u1", uimessage.RoleUser, uimessage.Metadata{}, "violets"), turnOf("a1", uimessage.RoleAssistant, done, "roses"))
		},
		func() error {
			return c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "first", From: 0, To: 1, Insert: []uimessage.Message{summary("s1", "first")}})
		},
		func() error {
			return c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "second", From: 0, To: 1, Insert: []uimessage.Message{summary("s2", "second")}})
		},
		func() error {
			return c.AppendHistory(t.Context(), turnOf("u2", uimessage.RoleUser, uimessage.Metadata{}, "lilies"), turnOf("a2", uimessage.RoleAssistant, done, "tulips"))
		},
		func() error {
			meta := done
			meta.Extra = []uimessage.Member{{Name: "aged", Value: json.RawMessage(`"aged"`)}, {Name: "other", Value: json.RawMessage(`"aged"`)}}
			return c.Rewrite(t.Context(), journal.Rewrite{
				ArchiveID: "aged", From: 1, To: 2, Insert: []uimessage.Message{turnOf("a1", uimessage.RoleAssistant, meta, "roses, in short")},
			})
		},
		func() error {
			return c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "rewound", From: 3, To: 4})
		},
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// TestForkKeepsArchives: the fork gets byte-for-byte copies of the archives that its summaries
// refer to and no other archives. The original chat does not change.
func TestForkKeepsArchives(t *testing.T) {
	state := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	store, err := filestore.Open(filestore.Options{Dir: state, Logger: log})
	stdtest.Must(t, err)
	desk := query.Stopped(store, query.StoppedOptions{State: state, IndexLogger: log})
	defer func() {
		if err := desk.Close(); err != nil {
			t.Error(err)
		}
	}()
	const from, to = "telegram-chat-1", "web-chat-fork"
	compacted(t, store, from)
	dir, err := store.ChatDir(from)
	stdtest.Must(t, err)
	before := stdtest.Files(t, dir)
	n, err := query.Fork(t.Context(), store, from, to, "u2", time.UnixMilli(1))
	if err != nil || n != 2 {
		t.Fatalf("fork: %d, %v; want 2", n, err)
	}
	if diff := cmp.Diff(before, stdtest.Files(t, dir)); diff != "" {
		t.Errorf("the other chat changed (-before +after):\n%s", diff)
	}
	forked, err := store.ChatDir(to)
	stdtest.Must(t, err)
	got := stdtest.Files(t, forked)
	for _, name := range []string{"messages/archive/first.json", "messages/archive/second.json", "messages/archive/aged.json"} {
		if got[name] != before[name] || got[name] == "" {
			t.Errorf("%s is %q, want %q", name, got[name], before[name])
		}
	}
	if _, ok := got["messages/archive/rewound.json"]; ok {
		t.Error("an archive that no summary names came along")
	}
	lines, err := desk.Search(t.Context(), query.Asked{ChatKey: to, Words: "violets"})
	if err != nil || len(lines) != 1 || lines[0].Place != "messages/archive/first.json:1" {
		t.Errorf("search in the fork: %+v, %v", lines, err)
	}
	doc, err := query.ReadChat(t.Context(), store, to)
	if err != nil || len(doc.Messages) != 2 {
		t.Fatalf("read the fork: %+v, %v", doc, err)
	}
	want := `{"ts":7,"chatKey":"web-chat-fork","channel":"web","chatId":"fork","username":"ana","result":"done","aged":"aged"}`
	if got := string(doc.Messages[1].Metadata); got != want {
		t.Errorf("metadata = %s, want %s", got, want)
	}
	if meta, _ := uimessage.DecodeMetadata(doc.Messages[0].Metadata); meta.Kind != uimessage.KindSummary || len(meta.Extra) != 1 {
		t.Errorf("the summary's metadata is %s", doc.Messages[0].Metadata)
	}

	for _, tt := range []struct {
		name     string
		from, to messages.ChatKey
		before   string
		want     error
	}{
		{"exists", from, to, "u2", query.ErrChatExists},
		{"no such message", from, "web-chat-2", "u1", query.ErrNoSuchTurn},
		{"a chat of a platform", from, "telegram-chat-2", "u2", query.ErrNotAdopted},
		{"a topic", from, "web-chat-x-topic-2", "u2", query.ErrNotAdopted},
	} {
		if _, err := query.Fork(t.Context(), store, tt.from, tt.to, tt.before, time.UnixMilli(1)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}
