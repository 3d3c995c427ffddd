package filestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// A copy in quarantine that has its size but not its contents after a power cut does not count: it
// is written again before the original is cut off.
func TestST3CopyOfTheRightSizeOnly(t *testing.T) {
	b := newBench(t, Options{})
	whole, _ := turnFile(2)
	torn := append(whole, `{"id":"u3","role":"user","pa`...)
	b.spoil(t, historyName, torn)
	b.load(t)
	copies, err := filepath.Glob(b.file(quarantineDir + "/*"))
	must(t, err)
	equal(t, "copies", 1, len(copies))
	want, err := os.ReadFile(copies[0])
	must(t, err)

	b.spoil(t, historyName, torn)
	must(t, os.WriteFile(copies[0], make([]byte, len(want)), 0o600))
	b.load(t)
	got, err := os.ReadFile(copies[0])
	must(t, err)
	equal(t, "the copy", string(want), string(got))
}

// A chat can be closed after a panic while a file was in use: its supervisor stops it and opens it
// again.
func TestPanicWithAFileInUse(t *testing.T) {
	b := newBench(t, Options{})
	c := b.chat(t)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
	func() {
		defer func() { _ = recover() }()
		_ = c.do(t.Context(), "test", false, func(ctx context.Context) error {
			return c.history.read(ctx, func(vfs.File) error { panic("test") })
		})
	}()
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case err := <-closed:
		must(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the file is in use for ever")
	}
}

// A rewrite that finds the disk full removes everything it wrote: the next one needs the space.
func TestST9FullRewriteLeavesNothing(t *testing.T) {
	for _, skip := range []int{0, 1, 2} {
		fail, fs := faulty()
		b := newBench(t, Options{FS: fs})
		c := b.chat(t)
		must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 3)...))
		fail.set(syscall.ENOSPC, skip, func(op, name string) bool { return op == "write" && strings.HasSuffix(name, tempSuffix) })
		err := c.Rewrite(t.Context(), journal.Rewrite{To: 2, ArchiveID: "a1", Insert: storetest.Turns(9, 9), Meta: journal.Meta{Version: 1}})
		wantRetryable(t, err, persistence.ErrFull)
		fail.clear()
		left, err := filepath.Glob(b.file("messages/*" + tempSuffix))
		must(t, err)
		equal(t, "temporary files", 0, len(left))
	}
}

// A file that reports an impossible size, because it is corrupt, ends neither the process nor the
// other chats.
func TestST13EndlessFile(t *testing.T) {
	names := []string{metaName, historyName}
	if soak() { // each reads a gibibyte
		names = append(names, journalName, ledgerName, metaLogName)
	}
	for _, name := range names {
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			b := newBench(t, Options{})
			b.spoil(t, name, []byte("{"))
			must(t, os.Truncate(b.file(name), 1<<42))
			c := b.chat(t)
			defer func() { must(t, c.Close()) }()
			if _, err := c.Load(t.Context()); !errors.Is(err, linefile.ErrTooLong) {
				t.Errorf("load: %v, want %v", err, linefile.ErrTooLong)
			}
		})
	}
}
