package tokenfile

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
)

func TestATokenIsMadeOnceAndKept(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if _, err := In(state).Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first start: %v, want that there is no file", err)
	}
	first, err := In(state).Open()
	stdtest.Must(t, err)
	if random, err := base64.RawURLEncoding.DecodeString(first); err != nil || len(random) != tokenBytes {
		t.Errorf("a token of %d bytes, %v", len(random), err)
	}
	info, err := os.Lstat(In(state).Path())
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	again, err := In(state).Open()
	if err != nil || again != first {
		t.Errorf("the next start has another token, %v", err)
	}
	read, err := In(state).Read()
	if err != nil || read != first {
		t.Errorf("a reader has another token, %v", err)
	}
	stdtest.Must(t, os.Remove(In(state).Path()))
	if next, err := In(state).Open(); err != nil || next == first {
		t.Errorf("after the file was removed: the same token, %v", err)
	}
}

// What cannot be trusted is neither used nor replaced.
func TestFilesThatAreRefused(t *testing.T) {
	good := strings.Repeat("a", 43) + "\n"
	put := func(content string, mode fs.FileMode) func(string) error {
		return func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(content), mode), os.Chmod(path, mode))
		}
	}
	tests := []struct {
		name string
		make func(path string) error
		want error
	}{
		{"a link to a good file", func(path string) error {
			return errors.Join(put(good, 0o600)(path+".other"), os.Symlink(path+".other", path))
		}, ErrLink},
		{"a link to nothing", func(path string) error { return os.Symlink(path+".missing", path) }, ErrLink},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, ErrLink},
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, ErrLink},
		{"readable by the group", put(good, 0o640), ErrShared},
		{"readable by everybody", put(good, 0o604), ErrShared},
		{"writable by the group", put(good, 0o620), ErrShared},
		{"empty", put("", 0o600), ErrDamage},
		{"a line break alone", put("\n", 0o600), ErrDamage},
		{"31 bytes", put(strings.Repeat("a", 42), 0o600), ErrDamage},
		{"other letters", put(strings.Repeat("!", 43), 0o600), ErrDamage},
		{"two lines", put(good+good, 0o600), ErrDamage},
		{"a NUL", put("\x00"+good, 0o600), ErrDamage},
		{"a huge one", put(strings.Repeat("a", 4*maxBytes), 0o600), ErrDamage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := In(t.TempDir())
			stdtest.Must(t, tt.make(f.Path()))
			before, err := os.Lstat(f.Path())
			stdtest.Must(t, err)
			token, err := f.Open()
			if token != "" || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), f.Path()) {
				t.Errorf("got a token of %d letters and %v, want %v with the path", len(token), err, tt.want)
			}
			after, err := os.Lstat(f.Path())
			if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() || before.Size() != after.Size() {
				t.Errorf("the file was changed: %v", err)
			}
			if _, err := os.Stat(f.Path() + ".missing"); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a file was made where the link leads")
			}
		})
	}
}

func TestST19EveryStepOfATokenFails(t *testing.T) {
	documenttest.EachFails(t, documenttest.Case{
		Change: func(disk document.Disk, state string) error {
			f := In(state)
			f.doc.Disk = disk
			_, err := f.Open()
			return err
		},
		Look: func(state string) (string, error) {
			_, err := In(state).Read()
			if errors.Is(err, fs.ErrNotExist) {
				return "none", nil
			}
			return "one", err
		},
		Old: "none", New: "one",
	})
}
