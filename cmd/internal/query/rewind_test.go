package query

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// keptChat makes a chat with some answered turns. With open, the last turn has no answer.
func keptChat(t *testing.T, key messages.ChatKey, open bool) (store *filestore.Store, history string) {
	t.Helper()
	dir := t.TempDir()
	store = filestoretest.In(t, dir)
	c, err := store.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	if _, err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var turns []uimessage.Message
	for n := range 3 {
		user := uimessage.Metadata{TS: int64(n + 1), Seq: int64(n + 1), IngressID: fmt.Sprint(n)}
		bot := uimessage.Metadata{TS: int64(n + 1), Seq: int64(n + 1), RunID: fmt.Sprintf("r%d", n), Result: "done"}
		turns = append(turns,
			uimessage.Message{ID: fmt.Sprintf("u%d", n), Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "ask"}}, Metadata: user.Append(nil)},
			uimessage.Message{ID: fmt.Sprintf("a%d", n), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "answer"}}, Metadata: bot.Append(nil)},
		)
	}
	if open {
		turns = turns[:5]
	}
	stdtest.Must(t, c.AppendHistory(t.Context(), turns...))
	stdtest.Must(t, c.Close())
	chat, err := store.ChatDir(key)
	stdtest.Must(t, err)
	return store, filepath.Join(chat, "messages", "history.jsonl")
}

// rewindStopped rewinds a chat while no host is running on the store.
func rewindStopped(t *testing.T, store *filestore.Store, order RewindOrder) (RewindResult, error) {
	t.Helper()
	out, err := Stopped(store, StoppedOptions{IndexLogger: slog.New(slog.DiscardHandler)}).Rewind(t.Context(), order)
	if err == nil {
		err = out.Refusal()
	}
	return out, err
}

func TestRewind(t *testing.T) {
	const key = messages.ChatKey("cli-chat-x")
	tests := []struct {
		name, before string
		key          messages.ChatKey
		open         bool
		want         []string
		err          error
	}{
		{name: "the last answered", before: "u2", want: []string{"u0", "a0", "u1", "a1"}},
		{name: "all", before: "u0", want: []string{}},
		{name: "behind a message of a user", before: "a1", want: []string{"u0", "a0", "u1", "closed"}},
		{name: "no such message", before: "u9", err: ErrNoSuchTurn},
		{name: "no such chat", key: "cli-chat-y", before: "u0", err: platform.ErrNotFound},
		{name: "an open turn", open: true, before: "u0", err: ErrNotAtRest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, history := keptChat(t, key, tt.open)
			before, err := os.ReadFile(history)
			stdtest.Must(t, err)
			if tt.key == "" {
				tt.key = key
			}
			out, err := rewindStopped(t, store, RewindOrder{tt.key, tt.before})
			if !errors.Is(err, tt.err) {
				t.Fatalf("error = %v, want %v", err, tt.err)
			}
			if tt.err != nil {
				if after, err := os.ReadFile(history); err != nil || !bytes.Equal(before, after) {
					t.Errorf("a refused rewind changed the history: %v", err)
				}
				return
			}
			doc, err := ReadChat(t.Context(), store, key)
			stdtest.Must(t, err)
			got := []string{}
			for _, m := range doc.Messages {
				if len(m.Parts) == 0 {
					m.ID = "closed"
				}
				got = append(got, m.ID)
			}
			stdtest.Diff(t, "history", tt.want, got)
			if doc.Counts.Open != 0 || out.Kept+out.Archived != 6 {
				t.Errorf("%d open, result %+v", doc.Counts.Open, out)
			}
			archives, err := filepath.Glob(filepath.Join(filepath.Dir(history), "archive", "*-rewind.json"))
			if err != nil || len(archives) != 1 {
				t.Fatalf("archives %q, %v", archives, err)
			}
			archive, err := os.ReadFile(archives[0])
			if lines := bytes.Count(archive, []byte(`\"role\":\"`)); err != nil || lines != out.Archived {
				t.Errorf("the archive holds %d turns, want %d: %v", lines, out.Archived, err)
			}
		})
	}
}

// A call that a person approved, and that no host has executed yet, is unfinished work.
func TestRewindLeavesAnApprovedCall(t *testing.T) {
	const key = messages.ChatKey("cli-chat-x")
	store, _ := keptChat(t, key, false)
	c, err := store.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	meta := uimessage.Metadata{TS: 4, Seq: 3, RunID: "r3", Result: string(journal.ResultWaiting)}
	call := uimessage.Tool{
		Name: "shell", ToolCallID: "c", State: uimessage.ToolApprovalResponded, Input: []byte("{}"),
		Approval: &uimessage.Approval{ID: "p", Approved: uimessage.Some(true)},
	}
	asked := uimessage.Message{ID: "a3", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{call}, Metadata: meta.Append(nil)}
	stdtest.Must(t, errors.Join(c.AppendHistory(t.Context(), asked), c.Close()))
	if _, err := rewindStopped(t, store, RewindOrder{key, "u1"}); !errors.Is(err, ErrNotAtRest) {
		t.Errorf("error = %v, want %v", err, ErrNotAtRest)
	}
}

// TestST7RewindRefusesDamage: a damaged history can be read, but a rewind does not change it.
func TestST7RewindRefusesDamage(t *testing.T) {
	const key = messages.ChatKey("cli-chat-x")
	damages := map[string]func([]byte) []byte{
		"a changed letter": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"text":"answer"`), []byte(`"text":"anwser"`), 1)
		},
		"zeros":       func(b []byte) []byte { return append(make([]byte, 64), b...) },
		"half a line": func(b []byte) []byte { return b[20:] },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			store, history := keptChat(t, key, false)
			b := stdtest.Read(t, history)
			bad := damage(bytes.Clone(b))
			stdtest.Must(t, os.WriteFile(history, bad, 0o600))
			for _, before := range []string{"u2", "a2"} {
				if _, err := rewindStopped(t, store, RewindOrder{key, before}); !errors.Is(err, journal.ErrDamaged) {
					t.Errorf("error = %v, want %v", err, journal.ErrDamaged)
				}
			}
			if after, err := os.ReadFile(history); err != nil || !bytes.Equal(bad, after) {
				t.Errorf("a refused rewind changed the history: %v", err)
			}
		})
	}
}

// The process is killed while it changes a chat that no host uses. What the next host accepts then survives a power cut.
func TestKilledWithoutAHost(t *testing.T) {
	const key = messages.ChatKey("cli-chat-x")
	turn := func(id string) uimessage.Message {
		meta := uimessage.Metadata{TS: 1, Seq: 1, Result: "done"}
		return uimessage.Message{ID: id, Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "answer"}}, Metadata: meta.Append(nil)}
	}
	open := func(d *filestoretest.Disk) (*filestore.Store, persistence.Chat, journal.Snapshot) {
		store, err := filestoretest.Open(d, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
		stdtest.Must(t, err)
		c, err := store.OpenChat(t.Context(), key)
		stdtest.Must(t, err)
		snap, err := c.Load(t.Context())
		stdtest.Must(t, err)
		return store, c, snap
	}
	adopts := func(store *filestore.Store) error {
		return Adopt(t.Context(), store, key, []uimessage.Message{turn("a0")}, time.Now())
	}
	rewinds := func(store *filestore.Store) error {
		reply, err := chatFiles{store: store}.rewind(t.Context(), messages.RewindChat{ChatKey: key})
		if reply.Reason != "" {
			t.Fatal(reply.Reason)
		}
		return err
	}
	var disk *filestoretest.Disk
	spoils := func(*filestore.Store) error {
		f, err := disk.OpenFile("/state/chat/cli-chat-x/messages/history.jsonl", os.O_RDWR)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte("?"), 0)
		return errors.Join(err, f.Datasync(), f.Close())
	}
	repairs := func(store *filestore.Store) error {
		_, err := store.Repair(t.Context(), key, filestore.RepairOptions{})
		return err
	}
	for name, works := range map[string][]func(*filestore.Store) error{"import": {adopts}, "rewind": {adopts, rewinds}, "repair": {adopts, spoils, repairs}} {
		t.Run(name, func(t *testing.T) {
			disk = filestoretest.NewDisk()
			store, c, _ := open(disk)
			stdtest.Must(t, c.Close())
			var killed []*filestoretest.Disk
			for _, work := range works {
				killed = nil
				disk.After(func(filestoretest.Op) { killed = append(killed, disk.Kill()) })
				stdtest.Must(t, work(store))
			}
			disk.After(nil)
			for n, d := range killed {
				_, c, snap := open(d)
				if len(snap.Damage) > 0 {
					continue // it takes no messages
				}
				stdtest.Must(t, errors.Join(c.Wake(t.Context()), c.AppendHistory(t.Context(), turn("again"))))
				for after := range d.CrashStates(64, 1) {
					if _, _, snap := open(after); !slices.ContainsFunc(snap.History, func(m uimessage.Message) bool { return m.ID == "again" }) {
						t.Fatalf("killed after %d operations: a message that was accepted is lost", n+1)
					}
				}
			}
		})
	}
}
