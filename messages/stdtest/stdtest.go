// Package stdtest has the few steps that tests of all packages take, in one line each.
package stdtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Must ends the test if there is an error. Tests of [testing] and of rapid may call it.
func Must(t interface {
	Helper()
	Fatal(args ...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Diff fails the test if two values differ, and says what they are and how they differ.
func Diff(t interface {
	Helper()
	Errorf(format string, args ...any)
}, what string, want, got any, opts ...cmp.Option,
) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Read returns what is in a file.
func Read(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a file of the test
	Must(tb, err)
	return data
}

// Write creates a file, or replaces what is in it, and creates the folders above it.
func Write(tb testing.TB, path, text string) {
	tb.Helper()
	Must(tb, os.MkdirAll(filepath.Dir(path), 0o700))
	Must(tb, os.WriteFile(path, []byte(text), 0o600))
}
