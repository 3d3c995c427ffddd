// Package stdtest has the few steps that tests of all packages take, in one line each.
package stdtest

import (
	"errors"
	"io/fs"
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

// Names returns the paths of all files below a folder, from there and with slashes. A folder that does not exist has none.
func Names(tb testing.TB, dir string) (out []string) {
	tb.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return out
}

// Files returns the texts of all regular files below a folder, by their [Names]. The folder has to exist.
func Files(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	Must(tb, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a file of the test
		out[name] = string(text)
		return err
	}))
	return out
}
