package document_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
)

func TestST19EveryStepFails(t *testing.T) {
	file := func(state string) string { return filepath.Join(state, "a", "b", "file") }
	documenttest.EachChange(t, documenttest.Case{
		Prepare: func(disk document.Disk, state string) error { return disk.Write(file(state), []byte("old")) },
		Change:  func(disk document.Disk, state string) error { return disk.Write(file(state), []byte("new")) },
		Look: func(state string) (string, error) {
			b, err := document.Read(file(state), 10)
			return string(b), err
		},
		Old: "old", New: "new",
	}, "") // the first write makes the folders
}

func TestFoldersAreForced(t *testing.T) {
	root := t.TempDir()
	var r documenttest.Recorder
	stdtest.Must(t, r.Disk().Write(filepath.Join(root, "a/b/file"), []byte("x")))
	r.Fsynced(t, filepath.Join(root, "a"), filepath.Join(root, "a/b"))
	for path, want := range map[string]os.FileMode{"a": 0o700, "a/b": 0o700, "a/b/file": 0o600} {
		if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want mode %v", path, info, err, want)
		}
	}
}

// Regardless of the umask and of earlier files, only the owner has access.
func TestST14Modes(t *testing.T) {
	for _, umask := range []int{0, 0o777} {
		root := t.TempDir()
		path := filepath.Join(root, "a", "b", "file")
		write := func() error {
			defer syscall.Umask(syscall.Umask(umask))
			return document.Disk{}.Write(path, []byte("x"))
		}
		stdtest.Must(t, write())
		stdtest.Must(t, os.WriteFile(path+".new", nil, 0o644))
		stdtest.Must(t, write())
		for at, want := range map[string]os.FileMode{filepath.Join(root, "a"): 0o700, filepath.Dir(path): 0o700, path: 0o600} {
			if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %03o: %s: %v, %v; want mode %v", umask, at, info, err, want)
			}
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	long, pipe := filepath.Join(dir, "long"), filepath.Join(dir, "pipe")
	stdtest.Must(t, os.WriteFile(long, []byte(strings.Repeat("x", 11)), 0o600))
	stdtest.Must(t, syscall.Mkfifo(pipe, 0o600))
	if b, err := document.Read(long, 11); err != nil || len(b) != 11 {
		t.Errorf("as long as it may be: %d bytes, %v", len(b), err)
	}
	if _, err := document.Read(long, 10); !errors.Is(err, document.ErrTooLong) {
		t.Errorf("one byte more: %v, want %v", err, document.ErrTooLong)
	}
	if b, err := document.Read(filepath.Join(dir, "none"), 10); err != nil || b != nil {
		t.Errorf("a file that is not there: %q, %v", b, err)
	}
	for _, path := range []string{pipe, dir} {
		if _, err := document.Read(path, 10); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

func TestRemove(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	var disk document.Disk
	stdtest.Must(t, errors.Join(disk.Write(file, nil), os.WriteFile(file+".new", []byte("of a killed process"), 0o600)))
	for range 2 {
		if err := disk.Remove(file); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The removal of a missing file may not be durable yet: removing it again does the fsync that
// failed before.
func TestRemoveAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	stdtest.Must(t, (document.Disk{}).Write(file, nil))
	broken := document.Disk{Fault: func(step document.Step, _ string) error {
		if step == document.StepSyncDir {
			return syscall.EIO
		}
		return nil
	}}
	for range 2 {
		if err := broken.Remove(file); !errors.Is(err, syscall.EIO) {
			t.Errorf("a removal that is not durable says %v", err)
		}
	}
	if err := (document.Disk{}).Remove(filepath.Join(t.TempDir(), "none", "file")); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

// A folder whose name is used by something else is refused.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	var disk document.Disk
	stdtest.Must(t, disk.Write(file, nil))
	if err := disk.Write(filepath.Join(file, "x"), nil); err == nil {
		t.Error("a file was a folder")
	}
}
