package memfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

var july = time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC)

func open(t *testing.T, state string) *Store {
	t.Helper()
	return New(Options{
		State: state,
		ChatDir: func(key messages.ChatKey) (string, error) {
			if key == "bad" {
				return "", messages.ErrChatKey
			}
			return filepath.Join(state, "chat", string(key)), nil
		},
	})
}

func fact(text string, sources ...string) memories.Fact {
	return memories.Fact{At: july, Text: text, Sources: sources}
}

func read3(t *testing.T, s *Store, places ...memories.Place) []string {
	t.Helper()
	var out []string
	for _, p := range places {
		text, err := s.ReadMemory(t.Context(), p)
		stdtest.Must(t, err)
		out = append(out, text)
	}
	return out
}

func TestAddMemory(t *testing.T) {
	state := t.TempDir()
	s := open(t, state)
	project, ana, chat := memories.Place{}, memories.Place{User: "telegram-7"}, memories.Place{Chat: "cli-chat-a"}
	stdtest.Diff(t, "at first", []string{"", "", ""}, read3(t, s, project, ana, chat))
	if entries, _ := os.ReadDir(state); len(entries) > 0 {
		t.Errorf("reading made %v", entries)
	}
	for _, p := range []memories.Place{project, ana, chat} {
		if n, err := s.AddMemory(t.Context(), p, fact("likes\n tea\u202e", "u:a:1"), fact("likes tea"), fact(" \t")); err != nil || n != 1 {
			t.Errorf("add to %v = %d, %v; want 1", p, n, err)
		}
	}
	if n, err := s.AddMemory(t.Context(), chat, fact("likes tea", "u:a:9")); err != nil || n != 0 {
		t.Errorf("the same again = %d, %v; want 0", n, err)
	}
	const want = "- 2026-07-01 likes tea [u:a:1]\n"
	stdtest.Diff(t, "memories", []string{want, want, want}, read3(t, s, project, ana, chat))
	for _, file := range []string{"memory/project.md", "memory/users/telegram-7.md", "chat/cli-chat-a/memory/Primary.md"} {
		if info, err := os.Stat(filepath.Join(state, file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want a file of mode 0600", file, info, err)
		}
	}
}

func TestWhatPeopleWroteStays(t *testing.T) {
	s := open(t, t.TempDir())
	const was = "---\ntitle: x\n---\n# Ana\n\n- 2025-01-02 likes tea [u:a:1]\nno line end"
	stdtest.Must(t, s.ReplaceMemory(t.Context(), memories.Place{}, "", was, true))
	if _, err := s.AddMemory(t.Context(), memories.Place{}, fact("likes tea"), fact("has a cat")); err != nil {
		t.Fatal(err)
	}
	stdtest.Diff(t, "memory", []string{was + "\n- 2026-07-01 has a cat\n"}, read3(t, s, memories.Place{}))
}

// What a person saved in another encoding is not replaced by what can be read of it.
func TestOtherEncodings(t *testing.T) {
	const was = "- 2025-01-02 \xcf\xb2\xbb\xb6\xb2\xe8\n" // GB 18030
	state := t.TempDir()
	s := open(t, state)
	place := memories.Place{Chat: "cli-chat-a"}
	dir := filepath.Join(state, "chat", "cli-chat-a", "memory")
	path := filepath.Join(dir, "Primary.md")
	stdtest.Must(t, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(was), 0o600)))
	text := read3(t, s, place)[0]
	if n, err := s.AddMemory(t.Context(), place, fact("has a cat")); err == nil || n != 0 {
		t.Errorf("a fact was added: %d, %v", n, err)
	}
	if _, err := s.AddExtracted(t.Context(), place.Chat, memories.Mark{}, fact("has a cat")); err == nil {
		t.Error("a fact was extracted")
	}
	if err := s.ReplaceMemory(t.Context(), place, text, "new", false); err == nil {
		t.Error("it was replaced without a backup")
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != was {
		t.Errorf("the file became %q, %v", raw, err)
	}
	stdtest.Must(t, s.ReplaceMemory(t.Context(), place, text, "new", true))
	found, err := filepath.Glob(filepath.Join(dir, "backup", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("backups: %q, %v", found, err)
	}
	if raw, err := os.ReadFile(found[0]); err != nil || string(raw) != was {
		t.Errorf("backed up as %q, %v", raw, err)
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	s := open(t, t.TempDir())
	for _, p := range []memories.Place{
		{User: "../project"},
		{User: "a/b"},
		{User: `a\b`},
		{User: "."},
		{User: ".."},
		{User: "a\x00"},
		{User: strings.Repeat("x", 200)},
		{Chat: "bad"},
		{Chat: "cli-chat-a", User: "cli-1"},
	} {
		if _, err := s.ReadMemory(t.Context(), p); !errors.Is(err, persistence.ErrNoMemory) {
			t.Errorf("read %v: %v, want %v", p, err, persistence.ErrNoMemory)
		}
		if _, err := s.AddMemory(t.Context(), p, fact("x")); !errors.Is(err, persistence.ErrNoMemory) {
			t.Errorf("add to %v: %v, want %v", p, err, persistence.ErrNoMemory)
		}
	}
}

func TestReplaceMemory(t *testing.T) { synctest.Test(t, replaceMemory) }

func replaceMemory(t *testing.T) {
	t.Helper()
	state := t.TempDir()
	s := open(t, state)
	place := memories.Place{Chat: "cli-chat-a"}
	if _, err := s.AddMemory(t.Context(), place, fact("old")); err != nil {
		t.Fatal(err)
	}
	was := read3(t, s, place)[0]
	if err := s.ReplaceMemory(t.Context(), place, was+"x", "new", true); !errors.Is(err, persistence.ErrMemoryChanged) {
		t.Errorf("of a text that is another: %v, want %v", err, persistence.ErrMemoryChanged)
	}
	if err := s.ReplaceMemory(t.Context(), place, was, strings.Repeat("x", memories.MaxSize+1), false); !errors.Is(err, persistence.ErrMemoryFull) {
		t.Errorf("too long: %v, want %v", err, persistence.ErrMemoryFull)
	}
	stdtest.Must(t, s.ReplaceMemory(t.Context(), place, was, "new\n", true))
	kept, err := os.ReadFile(filepath.Join(state, "chat/cli-chat-a/memory/backup/Primary-20000101T000000.000000000Z.md"))
	if err != nil || string(kept) != was {
		t.Errorf("backup = %q, %v; want %q", kept, err, was)
	}
	if got := read3(t, s, place)[0]; got != "new\n" {
		t.Errorf("memory = %q", got)
	}
}

var errCrash = errors.New("crash")

// crashes runs work with a crash at each of its steps, each time in a new folder,
// and hands over what a process after it finds.
func crashes(t *testing.T, prepare, work func(s *Store) error, check func(t *testing.T, step string, s *Store)) {
	t.Helper()
	for n := 1; ; n++ {
		state := t.TempDir()
		stdtest.Must(t, prepare(open(t, state)))
		s, at, last := open(t, state), 0, ""
		s.disk.Fault = func(step document.Step, path string) error {
			if at++; at == n {
				last = string(step) + " " + filepath.Base(path)
				return errCrash
			}
			return nil
		}
		err := work(s)
		if err == nil {
			if n < 3 {
				t.Fatalf("the work had %d steps", at)
			}
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		check(t, last, open(t, state))
	}
}

func TestCrashWhileFactsAreAdded(t *testing.T) {
	place, to := memories.Place{Chat: "cli-chat-a"}, memories.Mark{TurnID: "t9", Seq: 9}
	before := memories.Mark{TurnID: "t1", Seq: 1}
	prepare := func(s *Store) error {
		_, err := s.AddExtracted(context.Background(), "cli-chat-a", before, fact("old", "t1"))
		return err
	}
	work := func(s *Store) error {
		_, err := s.AddExtracted(context.Background(), "cli-chat-a", to, fact("new", "t9"))
		return err
	}
	const old, both = "- 2026-07-01 old [t1]\n", "- 2026-07-01 old [t1]\n- 2026-07-01 new [t9]\n"
	crashes(t, prepare, work, func(t *testing.T, step string, s *Store) {
		t.Helper()
		text := read3(t, s, place)[0]
		mark, err := s.Extracted(t.Context(), "cli-chat-a")
		switch {
		case err != nil:
			t.Errorf("crash at %s: %v", step, err)
		case text == old && mark == before, text == both && mark == to:
		default:
			t.Errorf("crash at %s: %q with mark %v", step, text, mark)
		}
		stdtest.Must(t, work(s))
		if mark, _ := s.Extracted(t.Context(), "cli-chat-a"); read3(t, s, place)[0] != both || mark != to {
			t.Errorf("crash at %s and again: %q, %v", step, read3(t, s, place), mark)
		}
	})
}

func TestCrashWhileAMemoryIsReplaced(t *testing.T) {
	place := memories.Place{Chat: "cli-chat-a"}
	prepare := func(s *Store) error { return s.ReplaceMemory(context.Background(), place, "", "old", false) }
	work := func(s *Store) error { return s.ReplaceMemory(context.Background(), place, "old", "new", true) }
	crashes(t, prepare, work, func(t *testing.T, step string, s *Store) {
		t.Helper()
		text := read3(t, s, place)[0]
		backups, err := filepath.Glob(filepath.Join(s.opts.State, "chat/cli-chat-a/memory/backup/*.md"))
		switch {
		case err != nil:
			t.Fatal(err)
		case text == "old":
		case text == "new" && len(backups) == 1:
			if kept, _ := os.ReadFile(backups[0]); string(kept) != "old" {
				t.Errorf("crash at %s: the backup is %q", step, kept)
			}
		default:
			t.Errorf("crash at %s: %q with %d backups", step, text, len(backups))
		}
	})
}

func TestMarkWithoutFacts(t *testing.T) {
	s := open(t, t.TempDir())
	to := memories.Mark{TurnID: "t9", Seq: 9}
	if n, err := s.AddExtracted(t.Context(), "cli-chat-a", to); n != 0 || err != nil {
		t.Errorf("no facts = %d, %v", n, err)
	}
	if mark, err := s.Extracted(t.Context(), "cli-chat-a"); mark != to || err != nil {
		t.Errorf("mark = %v, %v; want %v", mark, err, to)
	}
	if text := read3(t, s, memories.Place{Chat: "cli-chat-a"})[0]; text != "" {
		t.Errorf("memory = %q", text)
	}
}

// Two stores of one folder are as good as two processes: each has its own lock.
func TestChangesFromTwoSides(t *testing.T) {
	state := t.TempDir()
	a, b := open(t, state), open(t, state)
	var wg sync.WaitGroup
	for i := range 20 {
		s := a
		if i%2 == 0 {
			s = b
		}
		wg.Go(func() {
			if n, err := s.AddMemory(t.Context(), memories.Place{}, fact("fact "+strings.Repeat("x", i+1))); err != nil || n != 1 {
				t.Error(n, err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(read3(t, a, memories.Place{})[0], "\n"); got != 20 {
		t.Errorf("%d facts, want 20", got)
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	state := t.TempDir()
	s := open(t, state)
	stdtest.Must(t, os.WriteFile(filepath.Join(state, "memory"), nil, 0o600))
	if _, err := s.AddMemory(t.Context(), memories.Place{Chat: "cli-chat-a"}, fact("x")); err == nil {
		t.Error("a file took a folder's place and nothing failed")
	}
}
