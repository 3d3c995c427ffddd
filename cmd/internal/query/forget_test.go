package query

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// A deletion that fails after the chat's folder was emptied is completed later, and keeps what has come since.
func TestForgetKeepsWhatComesLater(t *testing.T) {
	const key messages.ChatKey = "web-chat-1"
	state := t.TempDir()
	store := filestoretest.In(t, state)
	inChat := func(do func(c persistence.Chat, snap journal.Snapshot)) {
		t.Helper()
		c, err := store.OpenChat(t.Context(), key)
		stdtest.Must(t, err)
		defer func() { _ = c.Close() }()
		snap, err := c.Load(t.Context())
		stdtest.Must(t, err)
		do(c, snap)
	}
	say := func(text string) {
		t.Helper()
		inChat(func(c persistence.Chat, _ journal.Snapshot) {
			stdtest.Must(t, c.AppendHistory(t.Context(), uimessage.Message{ID: text, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: text}}}))
		})
	}
	tasks, log := taskfile.New(state, time.UTC), taskfile.NewLog(state)
	plan := func(id string) {
		t.Helper()
		at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
		stdtest.Must(t, errors.Join(
			tasks.AddTask(t.Context(), timetable.Task{ID: id, Title: id, When: at, ChatKey: key, Say: id}),
			log.AddFires(t.Context(), timetable.Fire{Is: timetable.FireSkipped, Task: id, ID: timetable.FireID(id, at), ChatKey: key}),
			log.Close()))
	}
	result := filepath.Join(state, "files", "results", "web-chat-1", "a.txt")
	keep := func(text string) {
		t.Helper()
		stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(result), 0o700), os.WriteFile(result, []byte(text), 0o600)))
	}
	say("before")
	plan("before")
	keep("before")
	e := NewEraser(state, store, time.UTC)
	broken := true
	e.Runs = func(context.Context, messages.ChatKey) error {
		if broken {
			return errors.ErrUnsupported
		}
		return nil
	}
	intent := journal.Forgetting{Version: 1, ChatKey: key, Keep: journal.Meta{Version: journal.MetaVersion, N: 7, Seq: 3, IngressIDs: []string{"known"}}}
	if _, err := e.Forget(t.Context(), intent); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, journal.ErrNotBegun) {
		t.Fatalf("the deletion ends with %v", err)
	}
	say("after")
	plan("after")
	keep("after")
	broken = false
	finished := 0
	if err := e.FinishAll(t.Context(), func(_ journal.Forgetting, err error) {
		if finished++; err != nil {
			t.Error(err)
		}
	}); err != nil || finished != 1 {
		t.Fatalf("%d deletions were finished: %v", finished, err)
	}
	inChat(func(_ persistence.Chat, snap journal.Snapshot) {
		if len(snap.History) != 1 || snap.History[0].ID != "after" || len(snap.Meta.IngressIDs) != 1 {
			t.Errorf("the chat has %d turns and knows %v, want the turn that came later and the known id", len(snap.History), snap.Meta.IngressIDs)
		}
	})
	left, _, err := tasks.Tasks(t.Context())
	if err != nil || len(left) != 1 || left[0].ID != "after" {
		t.Errorf("the tasks are %v, %v; want the one that came later", left, err)
	}
	fires, err := log.Fires(t.Context())
	if err != nil || len(fires) != 1 || fires[0].Task != "after" {
		t.Errorf("the fires are %v, %v; want the one that came later", fires, err)
	}
	if text, err := os.ReadFile(result); string(text) != "after" {
		t.Errorf("the file is %q, %v; want the one that came later", text, err)
	}
	if left, err := os.ReadDir(filepath.Join(state, "forgetting")); err != nil || len(left) > 0 {
		t.Errorf("of the intent %v is left, %v", left, err)
	}
}

// If the intent cannot be stored, nothing is deleted, and the error says so.
func TestForgetWithoutAnIntentDeletesNothing(t *testing.T) {
	state := t.TempDir()
	store := filestoretest.In(t, state)
	stdtest.Must(t, os.WriteFile(filepath.Join(state, "forgetting"), nil, 0o600)) // where the folder would be
	if _, err := NewEraser(state, store, time.UTC).Forget(t.Context(), journal.Forgetting{Version: 1, ChatKey: "web-chat-1"}); !errors.Is(err, journal.ErrNotBegun) {
		t.Errorf("got %v, want %v", err, journal.ErrNotBegun)
	}
}

// If the ids that a chat keeps cannot be stored, the chat is unchanged and the order is withdrawn. Otherwise the next
// start would carry it out and delete what was written until then.
func TestForgetThatCannotKeepTheIDs(t *testing.T) {
	const key messages.ChatKey = "web-chat-1"
	state := t.TempDir()
	open := func() (*filestore.Store, persistence.Chat) {
		t.Helper()
		store, err := filestore.Open(filestore.Options{Dir: state})
		stdtest.Must(t, err)
		c, err := store.OpenChat(t.Context(), key)
		stdtest.Must(t, err)
		return store, c
	}
	store, c := open()
	said := uimessage.Message{ID: "m", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "hello"}}}
	if _, err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	stdtest.Must(t, errors.Join(c.AppendHistory(t.Context(), said), c.Close(), store.Close()))
	e := NewEraser(state, store, time.UTC) // which is closed
	_, err := e.Forget(t.Context(), journal.Forgetting{Version: 1, ChatKey: key, Keep: journal.Meta{N: 5}})
	if !errors.Is(err, journal.ErrNotBegun) {
		t.Errorf("got %v, want %v", err, journal.ErrNotBegun)
	}
	if err := e.FinishAll(t.Context(), func(f journal.Forgetting, err error) { t.Errorf("the next start deletes %s: %v", f.ChatKey, err) }); err != nil {
		t.Error(err)
	}
	store, c = open()
	t.Cleanup(func() { _ = errors.Join(c.Close(), store.Close()) })
	if snap, err := c.Load(t.Context()); err != nil || len(snap.History) != 1 {
		t.Errorf("%d turns, %v; want the one that was there", len(snap.History), err)
	}
}

// remembering is a store whose chat has a memory.
func remembering(t *testing.T, key messages.ChatKey) (state string, store *filestore.Store, place memories.Place) {
	t.Helper()
	state = t.TempDir()
	store = filestoretest.In(t, state)
	place = memories.Place{Chat: key}
	if _, err := Memories(state).AddMemory(t.Context(), place, memories.Fact{Text: "likes tea"}); err != nil {
		t.Fatal(err)
	}
	return state, store, place
}

// While a memory is being written, such as facts by an extraction that was stopped for the deletion, nothing is deleted:
// the rest of that write would bring the memory back.
func TestForgetWaitsForMemories(t *testing.T) {
	const key messages.ChatKey = "web-chat-1"
	state, store, place := remembering(t, key)
	forget := func(ctx context.Context) error {
		_, err := NewEraser(state, store, time.UTC).Forget(ctx, journal.Forgetting{Version: 1, ChatKey: key})
		return err
	}
	remembered := func() string {
		t.Helper()
		text, err := Memories(state).ReadMemory(t.Context(), place)
		stdtest.Must(t, err)
		return text
	}
	err := Memories(state).Alone(t.Context(), func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return forget(ctx)
	})
	if text := remembered(); !errors.Is(err, journal.ErrNotBegun) || text == "" {
		t.Errorf("while a memory is written the deletion ends with %v and leaves %q", err, text)
	}
	err = NewEraser(state, store, time.UTC).FinishAll(t.Context(), func(journal.Forgetting, error) {})
	if text := remembered(); err != nil || text == "" { // or else it would delete what came after the order
		t.Errorf("the next start makes up for it: %v, %q", err, text)
	}
	if err := forget(t.Context()); err != nil || remembered() != "" {
		t.Errorf("afterwards: %v, %q", err, remembered())
	}
}

// A start that waits in vain for a memory that is being written withdraws the order to delete a chat: the next start
// would delete what comes until then. A start that is stopped leaves the order to the next one.
func TestForgetThatCannotBeginAtTheStart(t *testing.T) {
	const key messages.ChatKey = "web-chat-1"
	for _, killed := range []bool{false, true} {
		state, store, place := remembering(t, key)
		e := NewEraser(state, store, time.UTC)
		stdtest.Must(t, e.intend(t.Context(), journal.Forgetting{Version: 1, ChatKey: key}))
		dir, dirErr := store.ChatDir(key)
		aside, asideErr := e.aside(key)
		stdtest.Must(t, errors.Join(dirErr, asideErr))
		if killed { // after the folder was taken away
			stdtest.Must(t, os.Rename(dir, aside))
		}
		start := func(ctx context.Context) (said error) {
			t.Helper()
			stdtest.Must(t, e.FinishAll(ctx, func(_ journal.Forgetting, err error) { said = err }))
			return said
		}
		err := Memories(state).Alone(t.Context(), func() error {
			stopped, stop := context.WithCancelCause(t.Context())
			stop(errors.ErrUnsupported) // a signal
			late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			return errors.Join(start(stopped), start(late))
		})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, journal.ErrNotBegun) {
			t.Errorf("the starts end with %v", err)
		}
		said := start(t.Context())
		if text, err := Memories(state).ReadMemory(t.Context(), place); err != nil || text == "" {
			t.Errorf("killed %v: the next start deletes the chat: %v, %v", killed, said, err)
		}
		if left, err := os.ReadDir(filepath.Join(state, "forgetting")); err != nil || len(left) > 0 {
			t.Errorf("killed %v: of the intent %v is left, %v", killed, left, err)
		}
	}
}

// The copies of a person's memory go with it, and not those of people whose names begin alike.
func TestForgetUserLeavesOthers(t *testing.T) {
	state := t.TempDir()
	store := Memories(state)
	for _, user := range []string{"api-bob", "api-bob-smith"} {
		stdtest.Must(t, store.ReplaceMemory(t.Context(), memories.Place{User: user}, "", "one\n", true))
		stdtest.Must(t, store.ReplaceMemory(t.Context(), memories.Place{User: user}, "one\n", "two\n", true))
	}
	stdtest.Must(t, forgetUser(state, "api-bob"))
	left, err := filepath.Glob(filepath.Join(state, "memory", "users", "backup", "*"))
	if err != nil || len(left) != 1 || !strings.Contains(left[0], "api-bob-smith-") {
		t.Errorf("left are %q, %v", left, err)
	}
}
