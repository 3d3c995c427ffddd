package chatfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestStore(t *testing.T) {
	root := t.TempDir()
	s := New(func(key messages.ChatKey) (string, error) { return filepath.Join(root, string(key)), nil })
	const key, name = messages.ChatKey("web-chat-1"), "pages.json"
	read := func(want string) {
		t.Helper()
		got, err := s.ReadFile(t.Context(), key, name)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	write := func(content string) {
		t.Helper()
		stdtest.Must(t, s.WriteFile(t.Context(), key, name, []byte(content)))
	}
	read("")
	write("one")
	write("two")
	read("two")
	info, err := os.Stat(filepath.Join(root, string(key), name))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	write("")
	read("")
	write("") // removing what is gone is no fault
	stdtest.Must(t, os.MkdirAll(filepath.Join(root, string(key), name), 0o700))
	if err := s.WriteFile(t.Context(), key, name, []byte("x")); err == nil {
		t.Error("a folder in the file's place was written")
	}
	if _, err := s.ReadFile(t.Context(), key, name); err == nil {
		t.Error("a folder in the file's place was read")
	}
}
