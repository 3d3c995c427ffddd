package stdtest_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// ended keeps what a test was ended with.
type ended struct{ with []any }

func (*ended) Helper() {}

func (e *ended) Fatal(args ...any) { e.with = append(e.with, args...) }

func TestMust(t *testing.T) {
	var e ended
	stdtest.Must(&e, nil)
	if e.with != nil {
		t.Errorf("no error ended the test with %v", e.with)
	}
	stdtest.Must(&e, fs.ErrExist)
	if !slices.Equal(e.with, []any{fs.ErrExist}) {
		t.Errorf("an error ended the test with %v, want the error", e.with)
	}
}

func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folders", "file")
	for _, want := range []string{"a text", "less"} {
		stdtest.Write(t, path, want)
		if got := string(stdtest.Read(t, path)); got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
}

// failed keeps what a test failed with.
type failed struct{ with []string }

func (*failed) Helper() {}

func (f *failed) Errorf(format string, args ...any) {
	f.with = append(f.with, fmt.Sprintf(format, args...))
}

func TestDiff(t *testing.T) {
	var f failed
	stdtest.Diff(&f, "same", []int{1}, []int{1})
	stdtest.Diff(&f, "same with an option", []int(nil), []int{}, cmpopts.EquateEmpty())
	if f.with != nil {
		t.Errorf("equal values failed with %q", f.with)
	}
	stdtest.Diff(&f, "numbers", 1, 2)
	if len(f.with) != 1 || !strings.HasPrefix(f.with[0], "numbers (-want +got):\n") || !strings.Contains(f.with[0], "2") {
		t.Errorf("different values failed with %q", f.with)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	stdtest.Write(t, filepath.Join(dir, "b", "text"), "of b")
	stdtest.Write(t, filepath.Join(dir, "a"), "of a")
	stdtest.Must(t, os.Symlink("a", filepath.Join(dir, "link")))
	stdtest.Diff(t, "names", []string{"a", "b/text", "link"}, stdtest.Names(t, dir))
	stdtest.Diff(t, "files", map[string]string{"a": "of a", "b/text": "of b"}, stdtest.Files(t, dir))
	if got := stdtest.Names(t, filepath.Join(dir, "none")); got != nil {
		t.Errorf("a folder that does not exist has %q", got)
	}
}
