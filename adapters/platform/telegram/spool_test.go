package telegram

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func spooled(ids ...int64) []update {
	var out []update
	for _, id := range ids {
		out = append(out, update{ID: id, Message: &message{ID: id, Chat: chat{ID: 7, Type: "private"}, Text: fmt.Sprint("text\n", id)}})
	}
	return out
}

func TestSpoolKeepsWhatItSaysItKeeps(t *testing.T) {
	s := spool{dir: filepath.Join(t.TempDir(), "new")}
	if err := s.add(nil, spooled(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.add(spooled(1), spooled(2, 3)); err != nil {
		t.Fatal(err)
	}
	load := func() []update {
		t.Helper()
		got, damaged, err := (&spool{dir: s.dir}).load()
		if err != nil || damaged != 0 {
			t.Errorf("%d damaged, %v", damaged, err)
		}
		return got
	}
	if diff := cmp.Diff(spooled(1, 2, 3), load(), cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.replace(spooled(3)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spooled(3), load(), cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.replace(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.path()); err == nil || len(load()) != 0 {
		t.Error("an empty list leaves a file")
	}
	info, err := os.Stat(s.dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestSpoolCutAnywhere: a crash may leave any beginning of a line that was added.
// What was added before it is whole.
func TestSpoolCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	s := spool{dir: dir}
	if err := s.add(nil, spooled(1, 2)); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(s.path())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.add(spooled(1, 2), spooled(3)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.path())
	if err != nil {
		t.Fatal(err)
	}
	for cut := before.Size(); cut <= int64(len(whole)); cut++ {
		if err := os.WriteFile(s.path(), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want, torn := 2, 1
		switch cut {
		case before.Size():
			torn = 0
		case int64(len(whole)):
			want, torn = 3, 0
		}
		next := spool{dir: dir}
		got, damaged, err := next.load()
		if err != nil || len(got) != want || damaged != torn {
			t.Fatalf("cut at %d: %d updates, %d damaged, %v", cut, len(got), damaged, err)
		}
		if err := next.add(got, spooled(4)); err != nil { // starts clean
			t.Fatal(err)
		}
		if got, damaged, err := (&spool{dir: dir}).load(); err != nil || len(got) != want+1 || damaged != 0 {
			t.Fatalf("cut at %d, then one more: %d updates, %d damaged, %v", cut, len(got), damaged, err)
		}
	}
}

func TestSpoolSaysNo(t *testing.T) {
	if err := (&spool{}).add(nil, spooled(1)); err == nil {
		t.Error("something is kept without a folder")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := spool{dir: file}
	if err := s.add(nil, spooled(1)); err == nil || !s.dirty {
		t.Errorf("a file is no folder: %v", err)
	}
	full := make([]update, maxSpool)
	if err := (&spool{dir: t.TempDir()}).add(full, spooled(1)); err == nil || !strings.Contains(err.Error(), "10000") {
		t.Errorf("no bound: %v", err)
	}
}
