package vectorcache

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func open(t *testing.T, file string, limit int64) *Cache {
	t.Helper()
	c := New(Options{File: file, MaxBytes: limit, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *Cache) must(t *testing.T, model string, texts ...string) [][]float32 {
	t.Helper()
	out, err := c.Vectors(t.Context(), model, texts)
	stdtest.Must(t, err)
	return out
}

func keep(t *testing.T, c *Cache, model string, texts []string, vectors ...[]float32) {
	t.Helper()
	stdtest.Must(t, c.KeepVectors(t.Context(), model, texts, vectors))
}

func TestVectorsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "index", "vectors.db")
	c := open(t, file, 0)
	if _, err := os.Stat(file); err == nil {
		t.Error("a cache that nobody uses made a file")
	}
	stdtest.Diff(t, "at first", [][]float32{nil, nil}, c.must(t, "m", "a secret plan", "b"))
	keep(t, c, "m", []string{"a secret plan", "b"}, []float32{1, -2.5}, []float32{0, 3})
	keep(t, c, "other", []string{"b"}, []float32{9})
	keep(t, c, "m", []string{"b"}, []float32{0, 4})
	for range 2 {
		stdtest.Diff(t, "vectors", [][]float32{{0, 4}, nil, {1, -2.5}}, c.must(t, "m", "b", "c", "a secret plan"))
		stdtest.Must(t, c.Close())
		c = open(t, file, 0)
	}
	stdtest.Must(t, c.Close())
	for _, f := range []string{file, file + "-wal"} {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), "secret plan") {
			t.Errorf("%s holds a text", f)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v; want mode 0600", info, err)
	}
}

// The file is bounded, and what is used stays.
func TestCacheIsBounded(t *testing.T) { synctest.Test(t, cacheIsBounded) }

func cacheIsBounded(t *testing.T) {
	t.Helper()
	const size = 4 * 8
	c := open(t, filepath.Join(t.TempDir(), "v.db"), 100*size)
	vector := make([]float32, 8)
	keep(t, c, "m", []string{"used"}, vector)
	for i := range 300 {
		<-time.After(2 * fresh)
		c.must(t, "m", "used")
		keep(t, c, "m", []string{fmt.Sprint(i)}, vector)
	}
	kept := 0
	for i := range 300 {
		if c.must(t, "m", fmt.Sprint(i))[0] != nil {
			kept++
		}
	}
	if c.must(t, "m", "used")[0] == nil || c.must(t, "m", "299")[0] == nil || kept < 80 || kept > 100 {
		t.Errorf("%d of 300 are kept; those used last have to be among them", kept)
	}
}

// A damaged file is made anew.
func TestCacheCanBeLost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.db")
	stdtest.Must(t, os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600))
	c := open(t, file, 0)
	keep(t, c, "m", []string{"a"}, []float32{1})
	stdtest.Diff(t, "vectors", [][]float32{{1}}, c.must(t, "m", "a"))
}
