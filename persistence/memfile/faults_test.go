package memfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

func TestST19EveryStepOfAMemoryFails(t *testing.T) {
	const key, old, both = "cli-chat-a", "- 2026-07-01 old [t1]\n|t1", "- 2026-07-01 old [t1]\n- 2026-07-01 new [t9]\n|t9"
	on := func(disk document.Disk, state string) *Store {
		s := open(t, state)
		s.disk = disk
		return s
	}
	add := func(words, turn string) func(document.Disk, string) error {
		return func(disk document.Disk, state string) error {
			_, err := on(disk, state).AddExtracted(t.Context(), key, memories.Mark{TurnID: turn}, fact(words, turn))
			return err
		}
	}
	look := func(state string) (string, error) {
		s := open(t, state)
		text, err := s.ReadMemory(t.Context(), memories.Place{Chat: key})
		mark, markErr := s.Extracted(t.Context(), key)
		return text + "|" + mark.TurnID, errors.Join(err, markErr)
	}
	documenttest.EachChange(t, documenttest.Case{Prepare: add("old", "t1"), Change: add("new", "t9"), Look: look, Old: old, New: both}, "|")
	replaced := false
	documenttest.EachFails(t, documenttest.Case{
		Prepare: add("old", "t1"),
		Change: func(disk document.Disk, state string) error {
			err := on(disk, state).ReplaceMemory(t.Context(), memories.Place{Chat: key}, "- 2026-07-01 old [t1]\n", "short\n", true)
			if errors.Is(err, persistence.ErrMemoryChanged) {
				replaced = true // the one before did it, and could not force the folder
				return nil
			}
			return err
		},
		Look: look, Old: old, New: "short\n|t1",
	})
	if !replaced {
		t.Error("no fault came behind the rename")
	}
}

func TestFoldersOfMemoriesAreForced(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	s := open(t, state)
	var r documenttest.Recorder
	s.disk = r.Disk()
	for _, place := range []memories.Place{{}, {User: "cli-1"}, {Chat: "cli-chat-a"}} {
		if _, err := s.AddMemory(t.Context(), place, fact("x")); err != nil {
			t.Fatal(err)
		}
	}
	r.Fsynced(t, state, filepath.Join(state, "memory"), filepath.Join(state, "memory/users"), filepath.Join(state, "chat/cli-chat-a/memory"))
}

// A memory that somebody made endless is not read into memory.
func TestEndlessMemory(t *testing.T) {
	state := t.TempDir()
	s := open(t, state)
	if _, err := s.AddMemory(t.Context(), memories.Place{}, fact("x")); err != nil {
		t.Fatal(err)
	}
	stdtest.Must(t, os.Truncate(filepath.Join(state, "memory/project.md"), 1<<40))
	if _, err := s.ReadMemory(t.Context(), memories.Place{}); !errors.Is(err, document.ErrTooLong) {
		t.Errorf("read: %v, want %v", err, document.ErrTooLong)
	}
}
