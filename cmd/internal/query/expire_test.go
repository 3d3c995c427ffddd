package query

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// What is left of an old run of a task is deleted, unless it is in use or unfinished.
func TestExpireRuns(t *testing.T) {
	state, at := t.TempDir(), time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	store := filestoretest.In(t, state)
	handles := map[string]persistence.Chat{}
	var fires []timetable.Fire
	run := func(task string, more ...timetable.FireKind) messages.ChatKey {
		t.Helper()
		id := timetable.FireID(task, at)
		for _, is := range append([]timetable.FireKind{timetable.FireStarted}, more...) {
			fires = append(fires, timetable.Fire{Is: is, At: at, Task: task, ID: id, Planned: at, ChatKey: "telegram-chat-1"})
		}
		return timetable.FireChat(id)
	}
	const ended, settled = timetable.FireEnded, timetable.FireSettled
	old := run("old", ended, settled)
	keys := map[string]messages.ChatKey{
		"old": old, "young": run("young", ended, settled), "waits": run("waits", timetable.FireWaits),
		"open": run("open", ended, settled), "forgotten": timetable.FireChat(timetable.FireID("forgotten", at)), "by hand": timetable.FireChat(timetable.FireByHand("hand", at)),
		"person": "telegram-chat-1",
	}
	log := taskfile.NewLog(state)
	stdtest.Must(t, errors.Join(log.AddFires(t.Context(), fires...), log.Close()))
	for name, key := range keys {
		c, err := store.OpenChat(t.Context(), key)
		stdtest.Must(t, err)
		handles[name] = c
		if name == "waits" {
			err = c.Wake(t.Context())
		}
		err = errors.Join(err, c.AppendHistory(t.Context(), uimessage.Message{ID: name, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "word"}}}))
		if name != "open" {
			err = errors.Join(err, c.Close())
		}
		stdtest.Must(t, err)
	}
	for _, name := range []string{"files/results/" + folder(t, old) + "/a.txt", "memory/agent-context/" + folder(t, old) + ".jsonl", "approvals/grants/" + folder(t, old) + ".json"} {
		path := filepath.Join(state, filepath.FromSlash(name))
		stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("word"), 0o600)))
	}
	e := NewEraser(state, store, time.UTC)
	e.Index = NewIndex(state, store, slog.New(slog.DiscardHandler))
	defer func() { _ = e.Index.Close() }()
	found := func() int {
		t.Helper()
		hits, err := e.Index.SearchAll(t.Context(), persistence.Search{Text: "word", Limit: 100})
		stdtest.Must(t, err)
		return len(hits)
	}
	if n := found(); n != len(keys) {
		t.Errorf("%d chats are found", n)
	}
	touch(t, filepath.Join(state, "chat"), at)
	touch(t, filepath.Join(state, "chat", folder(t, keys["young"])), at.AddDate(0, 2, 0))
	rest := func(ctx context.Context) error { return ctx.Err() }
	if n, err := e.ExpireRuns(t.Context(), at.AddDate(0, 1, 0), rest); n != 3 || err != nil {
		t.Errorf("%d runs were deleted, %v; want 3", n, err)
	}
	var left []string
	for key, err := range store.Chats(t.Context()) {
		stdtest.Must(t, err)
		for name, of := range keys {
			if of == key {
				left = append(left, name)
			}
		}
	}
	slices.Sort(left)
	stdtest.Diff(t, "left", []string{"open", "person", "waits", "young"}, left)
	err := filepath.WalkDir(state, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == folder(t, old) || filepath.Base(path) == folder(t, old)+".json" || filepath.Base(path) == folder(t, old)+".jsonl" {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if n := found(); n != len(left) || err != nil {
		t.Errorf("%d chats are found, %v", n, err)
	}
	if err := handles["open"].Close(); err != nil {
		t.Error(err)
	}
	if n, err := e.ExpireRuns(t.Context(), at.AddDate(0, 1, 0), rest); n != 1 || err != nil {
		t.Errorf("%d runs were deleted after it was closed, %v; want 1", n, err)
	}
}

func folder(t *testing.T, key messages.ChatKey) string {
	t.Helper()
	name, err := filestore.ChatDir("", key)
	stdtest.Must(t, err)
	return filepath.Base(name)
}

// touch sets the times of all files below a folder.
func touch(t *testing.T, dir string, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	stdtest.Must(t, err)
}
