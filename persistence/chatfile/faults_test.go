package chatfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
)

const faultKey, faultName = messages.ChatKey("web-chat-1"), "pages.json"

func on(disk document.Disk, state string) *Store {
	s := New(func(key messages.ChatKey) (string, error) { return filepath.Join(state, "chat", string(key)), nil })
	s.disk = disk
	return s
}

func TestST19EveryStepOfAChatsFileFails(t *testing.T) {
	write := func(content string) func(document.Disk, string) error {
		return func(disk document.Disk, state string) error {
			return on(disk, state).WriteFile(t.Context(), faultKey, faultName, []byte(content))
		}
	}
	look := func(state string) (string, error) {
		b, err := on(document.Disk{}, state).ReadFile(t.Context(), faultKey, faultName)
		return string(b), err
	}
	documenttest.EachChange(t, documenttest.Case{Prepare: write("old"), Change: write("new"), Look: look, Old: "old", New: "new"}, "")
}

func TestFoldersOfChatsFilesAreForced(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	var r documenttest.Recorder
	stdtest.Must(t, on(r.Disk(), state).WriteFile(t.Context(), faultKey, faultName, []byte("x")))
	r.Fsynced(t, state, filepath.Join(state, "chat"), filepath.Join(state, "chat", string(faultKey)))
}

func TestEndlessFile(t *testing.T) {
	state := t.TempDir()
	s := on(document.Disk{}, state)
	stdtest.Must(t, s.WriteFile(t.Context(), faultKey, faultName, []byte("x")))
	path, err := s.FilePath(faultKey, faultName)
	stdtest.Must(t, errors.Join(err, os.Truncate(path, 1<<40)))
	if _, err := s.ReadFile(t.Context(), faultKey, faultName); !errors.Is(err, document.ErrTooLong) {
		t.Errorf("read: %v, want %v", err, document.ErrTooLong)
	}
}
