package document_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
)

type counter struct {
	N int `json:"n"`
}

// counterIn is a document below a folder, with a lock.
func counterIn(state string, disk document.Disk) document.File[counter] {
	return document.File[counter]{
		Path: filepath.Join(state, "a", "counter.json"), Max: 100, Disk: disk, Lock: document.NewLock(filepath.Join(state, ".lock")),
		Encode: document.Indented[counter],
		Decode: func(raw []byte) (c counter, err error) {
			if raw != nil {
				err = document.Strict(raw, &c)
			}
			return c, err
		},
	}
}

func add(c *counter) error {
	c.N++
	return nil
}

func TestST19EveryStepOfAChangeFails(t *testing.T) {
	set := func(n int) func(document.Disk, string) error {
		return func(disk document.Disk, state string) error {
			return counterIn(state, disk).Change(t.Context(), func(c *counter) error {
				c.N = n
				return nil
			})
		}
	}
	look := func(state string) (string, error) {
		c, err := counterIn(state, document.Disk{}).Read()
		return strings.Repeat("x", c.N), err
	}
	documenttest.EachChange(t, documenttest.Case{Prepare: set(1), Change: set(2), Look: look, Old: "x", New: "xx"}, "")
}

// A document that cannot be read is an error, and is not changed.
func TestDamageIsNotOverwritten(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut": `{"n":`, "unknown member": `{"n":1,"m":2}`, "two values": `{"n":1}{}`, "too long": strings.Repeat(" ", 101),
	} {
		t.Run(name, func(t *testing.T) {
			f := counterIn(t.TempDir(), document.Disk{})
			stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(f.Path), 0o700), os.WriteFile(f.Path, []byte(text), 0o600)))
			if _, err := f.Read(); err == nil {
				t.Error("it was read")
			}
			f.Unreadable = func(err error) error { return errors.Join(syscall.EINVAL, err) }
			if err := f.Change(t.Context(), add); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("changed with %v", err)
			}
			if raw, err := os.ReadFile(f.Path); err != nil || string(raw) != text {
				t.Errorf("the file became %q, %v", raw, err)
			}
		})
	}
}

func TestChangeThatChangesNothing(t *testing.T) {
	var r documenttest.Recorder
	f := counterIn(t.TempDir(), r.Disk())
	if err := f.Change(t.Context(), func(*counter) error { return document.ErrSame }); err != nil {
		t.Error(err)
	}
	if err := f.Change(t.Context(), func(*counter) error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a change that fails: %v", err)
	}
	if _, err := os.Stat(f.Path); !os.IsNotExist(err) {
		t.Errorf("the file was written: %v", err)
	}
}

// Several processes change a document concurrently, and no change is lost.
func TestLockOrdersChanges(t *testing.T) {
	state := t.TempDir()
	const writers, each = 4, 10
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			f := counterIn(state, document.Disk{}) // like another process
			for range each {
				if err := f.Change(t.Context(), add); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if c, err := counterIn(state, document.Disk{}).Read(); err != nil || c.N != writers*each {
		t.Errorf("%+v, %v, want %d", c, err, writers*each)
	}
}

// A caller whose context ends does not wait for the lock of another process.
func TestLockEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".lock")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := document.NewLock(path).Do(t.Context(), document.Disk{}, func() error {
		return document.NewLock(path).Do(ctx, document.Disk{}, func() error { return nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
