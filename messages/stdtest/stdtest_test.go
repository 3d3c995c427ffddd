package stdtest_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

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
