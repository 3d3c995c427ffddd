// Package documenttest makes every step of a store's change fail, one after the other.
package documenttest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// Case is a store and one change of it.
type Case struct {
	// Prepare puts the old content into a state folder, which is empty if it is nil.
	Prepare func(disk document.Disk, state string) error
	// Change is the change; repeated, it still leads to the new content.
	Change func(disk document.Disk, state string) error
	// Look returns what a reader sees who opens the folder again.
	Look func(state string) (string, error)
	// Old and New are the contents that Look may return.
	Old, New string
}

// EachFails runs the change with each of its steps failing, with a full and with a broken disk. The
// change must return the error, Look must return the old or the new content, and repeating the
// change must lead to the new one. No partially written file may be left.
func EachFails(t *testing.T, c Case) {
	t.Helper()
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
		n := 1
		for c.failing(t, n, fault) {
			n++
		}
		if n < 5 { // open, write, fsync, rename, fsync the folder
			t.Fatalf("the change had %d steps", n-1)
		}
		t.Logf("%v at each of %d steps", fault, n-1)
	}
}

// EachChange is [EachFails] for the change, and for Prepare in an empty state folder, of which Look
// returns none.
func EachChange(t *testing.T, c Case, none string) {
	t.Helper()
	EachFails(t, Case{Change: c.Prepare, Look: c.Look, Old: none, New: c.Old})
	EachFails(t, c)
}

// failing makes the n-th step fail; it returns false if there are fewer steps.
func (c Case) failing(t *testing.T, n int, fault error) bool {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	if c.Prepare != nil {
		stdtest.Must(t, c.Prepare(document.Disk{}, state))
	}
	at, failed := 0, ""
	err := c.Change(document.Disk{Fault: func(step document.Step, path string) error {
		if at++; at != n {
			return nil
		}
		failed = fmt.Sprintf("%v at step %d, %s %s", fault, n, step, filepath.Base(path))
		if step == document.StepWrite { // a part may be written
			if err := os.Truncate(path+".new", 3); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		return fault
	}}, state)
	if failed == "" {
		if err != nil {
			t.Fatalf("without a fault: %v", err)
		}
		return false
	}
	if !errors.Is(err, fault) {
		t.Errorf("%s: the change says %v", failed, err)
	}
	c.look(t, state, failed, c.Old, c.New)
	leftovers(t, state, failed)
	if err := c.Change(document.Disk{}, state); err != nil {
		t.Errorf("%s: and again: %v", failed, err)
	}
	c.look(t, state, failed+", and again", c.New)
	return true
}

func (c Case) look(t *testing.T, state, where string, legal ...string) {
	t.Helper()
	got, err := c.Look(state)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	if slices.Contains(legal, got) {
		return
	}
	t.Errorf("%s: found %q, want one of %q", where, got, legal)
}

func leftovers(t *testing.T, state, where string) {
	t.Helper()
	err := filepath.WalkDir(state, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, ".new") {
			t.Errorf("%s: it left %s", where, filepath.Base(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Recorder records the steps that were done, in order, for example "force folder x".
type Recorder struct{ steps []string }

// Disk returns a disk whose steps are recorded.
func (r *Recorder) Disk() document.Disk {
	return document.Disk{Fault: func(step document.Step, path string) error {
		r.steps = append(r.steps, string(step)+" "+path)
		return nil
	}}
}

// Fsynced fails the test if a folder below the state folder, or the folder itself, was made and its
// name was not fsynced afterwards.
func (r *Recorder) Fsynced(t *testing.T, made ...string) {
	t.Helper()
	for _, dir := range made {
		want, seen := string(document.StepSyncDir)+" "+filepath.Dir(dir), false
		begun := false
		for _, step := range r.steps {
			begun = begun || step == string(document.StepMakeDir)+" "+dir
			seen = seen || begun && step == want
		}
		if !seen {
			t.Errorf("%s was not made and forced; steps: %q", dir, r.steps)
		}
	}
}
