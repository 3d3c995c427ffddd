package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// said returns messages in the platform's encoding.
func said(ids ...int) [][]byte {
	var out [][]byte
	for _, id := range ids {
		out = append(out, fmt.Appendf(nil, `{"id":%d,"text":"text\n %d"}`, id, id))
	}
	return out
}

// held hands a spool what its file is to hold already.
func held(messages [][]byte) func() ([][]byte, error) {
	return func() ([][]byte, error) { return messages, nil }
}

func loaded(s *Spool) (got [][]byte, damaged int, err error) {
	damaged, err = s.Load(func(m []byte) error {
		got = append(got, append([]byte(nil), m...))
		return nil
	})
	return got, damaged, err
}

func TestSpoolKeepsWhatItSaysItKeeps(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "new"))
	stdtest.Must(t, s.Add(said(1), 0, nil))
	stdtest.Must(t, s.Add(said(2, 3), 1, nil))
	load := func() [][]byte {
		t.Helper()
		got, damaged, err := loaded(New(s.dir))
		if err != nil || damaged != 0 {
			t.Errorf("%d damaged, %v", damaged, err)
		}
		return got
	}
	stdtest.Diff(t, "", said(1, 2, 3), load())
	stdtest.Must(t, s.Replace(said(3)))
	stdtest.Diff(t, "", said(3), load())
	stdtest.Must(t, s.Replace(nil))
	if _, err := os.Stat(s.path()); err == nil || len(load()) != 0 {
		t.Error("an empty list leaves a file")
	}
	info, err := os.Stat(s.dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestSpoolCutAnywhere checks that a crash may cut an added line anywhere without damaging earlier
// messages.
func TestSpoolCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	stdtest.Must(t, s.Add(said(1, 2), 0, nil))
	before, err := os.Stat(s.path())
	stdtest.Must(t, err)
	stdtest.Must(t, s.Add(said(3), 2, held(said(1, 2))))
	whole, err := os.ReadFile(s.path())
	stdtest.Must(t, err)
	for cut := before.Size(); cut <= int64(len(whole)); cut++ {
		stdtest.Must(t, os.WriteFile(s.path(), whole[:cut], 0o600))
		want, torn := 2, 1
		switch cut {
		case before.Size():
			torn = 0
		case int64(len(whole)):
			want, torn = 3, 0
		}
		next := New(dir)
		got, damaged, err := loaded(next)
		if err != nil || len(got) != want || damaged != torn {
			t.Fatalf("cut at %d: %d messages, %d damaged, %v", cut, len(got), damaged, err)
		}
		stdtest.Must(t, next.Add(said(4), len(got), held(got))) // starts clean
		if got, damaged, err := loaded(New(dir)); err != nil || len(got) != want+1 || damaged != 0 {
			t.Fatalf("cut at %d, then one more: %d messages, %d damaged, %v", cut, len(got), damaged, err)
		}
	}
}

func TestSpoolSaysNo(t *testing.T) {
	if err := New("").Add(said(1), 0, nil); !errors.Is(err, ErrNoFolder) {
		t.Errorf("something is kept without a folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	stdtest.Must(t, os.WriteFile(file, nil, 0o600))
	s := New(file)
	if err := s.Add(said(1), 0, nil); err == nil || !s.dirty {
		t.Errorf("a file is not a folder: %v", err)
	}
	if err := New(t.TempDir()).Add(said(1), Max, nil); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "10000") {
		t.Errorf("no bound: %v", err)
	}
	if err := New(t.TempDir()).Add([][]byte{[]byte("{\n}")}, 0, nil); err == nil {
		t.Error("a message of two lines is kept, which would be read as two")
	}
}

// TestSpoolKeepsWhatNobodyCanRead checks that an intact line which the platform cannot decode is
// not discarded.
func TestSpoolKeepsWhatNobodyCanRead(t *testing.T) {
	dir := t.TempDir()
	stdtest.Must(t, New(dir).Add([][]byte{[]byte(`{"id":1}`), []byte(`"old form"`), []byte(`{"id":2}`)}, 0, nil))
	var ids []int
	damaged, err := New(dir).Load(func(m []byte) error {
		var got struct {
			ID int `json:"id"`
		}
		if err := json.Unmarshal(m, &got); err != nil {
			return err
		}
		ids = append(ids, got.ID)
		return nil
	})
	if diff := cmp.Diff([]int{1, 2}, ids); diff != "" || damaged != 1 || err != nil {
		t.Errorf("%d damaged, %v (-want +got):\n%s", damaged, err, diff)
	}
	kept, err := os.ReadFile(filepath.Join(dir, File+Damaged))
	if err != nil || !strings.Contains(string(kept), "old form") {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// FuzzSpoolLoad checks that loading terminates for any file, and yields only messages with a valid
// checksum.
func FuzzSpoolLoad(f *testing.F) {
	whole, err := lines(said(1, 2))
	stdtest.Must(f, err)
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte("00000000 \n\n\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, File), raw, 0o600))
		s := New(dir)
		got, damaged, err := loaded(s)
		stdtest.Must(t, err)
		if again, err := lines(got); err != nil || damaged == 0 && len(again) != len(raw) {
			t.Errorf("%q was read as %q, %v", raw, got, err)
		}
		stdtest.Must(t, s.Add(said(9), len(got), held(got)))
		if next, damaged, err := loaded(New(dir)); err != nil || damaged != 0 || len(next) != len(got)+1 {
			t.Errorf("after %q: %d messages, %d damaged, %v", raw, len(next), damaged, err)
		}
	})
}
