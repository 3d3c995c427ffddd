package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// faultFS is the machine's file system with faults. It has no lock.
type faultFS struct {
	vfs.FS
	// fail decides about each operation: open, rename, remove, mkdir, readdir, syncdir, lstat, read,
	// write, truncate, datasync. An error replaces the operation; a failing write has written half.
	fail func(op, name string) error
	// lazy skips everything that only matters after a power cut.
	lazy bool
}

func (f *faultFS) ask(op, name string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(op, name)
}

func (f *faultFS) OpenFile(name string, flag int) (vfs.File, error) {
	if err := f.ask("open", name); err != nil {
		return nil, err
	}
	file, err := f.FS.OpenFile(name, flag)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f, name: name}, nil
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.ask("rename", to); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f *faultFS) Remove(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *faultFS) Mkdir(name string) error {
	if err := f.ask("mkdir", name); err != nil {
		return err
	}
	return f.FS.Mkdir(name)
}

func (f *faultFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.ask("readdir", name); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(name)
}

func (f *faultFS) SyncDir(name string) error {
	if err := f.ask("syncdir", name); err != nil || f.lazy {
		return err
	}
	return f.FS.SyncDir(name)
}

func (f *faultFS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.ask("lstat", name); err != nil {
		return nil, err
	}
	return f.FS.Lstat(name)
}

type faultFile struct {
	vfs.File
	fs   *faultFS
	name string
}

func (f *faultFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.fs.ask("read", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.fs.ask("write", f.name); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], off)
		if errors.Is(err, errShort) {
			err = nil
		}
		return n, err
	}
	return f.File.WriteAt(b, off)
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.fs.ask("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Datasync() error {
	if err := f.fs.ask("datasync", f.name); err != nil || f.fs.lazy {
		return err
	}
	return f.File.Datasync()
}

// errShort makes a write short without an error.
var errShort = errors.New("short")

// lazyFS does no fsync, for tests that only check what was written.
func lazyFS() vfs.FS { return &faultFS{FS: vfs.OS{}, lazy: true} }

// failure is a plan: operations fail from the n-th matching one on, for a while.
type failure struct {
	mu    sync.Mutex
	match func(op, name string) bool
	err   error
	skip  int // operations to let pass before
	times int // how many then fail
	hits  int // how many matched
}

func (f *failure) ask(op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || f.match != nil && !f.match(op, name) {
		return nil
	}
	f.hits++
	if f.hits <= f.skip || f.hits > f.skip+f.times {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Base(name), Err: f.err}
}

func (f *failure) set(err error, skip int, match func(op, name string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.skip, f.times, f.hits, f.match = err, skip, 1, 0, match
}

func (f *failure) clear() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = nil
	return f.hits
}

func on(op, suffix string) func(string, string) bool {
	return func(o, name string) bool { return o == op && strings.HasSuffix(name, suffix) }
}

func faulty() (*failure, vfs.FS) {
	plan := &failure{}
	return plan, &faultFS{FS: vfs.OS{}, fail: plan.ask, lazy: true}
}

// A full disk undoes the write; it may be retried at once.
func TestFullDisk(t *testing.T) {
	operations := []struct {
		name string
		do   func(ctx context.Context, c persistence.Chat) error
	}{
		{"append", func(ctx context.Context, c persistence.Chat) error { return c.Append(ctx, storetest.Facts(3, 4)...) }},
		{"note", func(ctx context.Context, c persistence.Chat) error { return c.Note(ctx, storetest.Facts(3, 4)...) }},
		{"checkpoint", func(ctx context.Context, c persistence.Chat) error {
			return c.Checkpoint(ctx, journal.Checkpoint{
				History: storetest.Turns(5, 6), Ledger: storetest.Entries(1, 2), Rest: storetest.Facts(5, 6),
				Meta: journal.Meta{Version: 1, IngressIDs: []string{"a"}},
			})
		}},
		{"rewrite", func(ctx context.Context, c persistence.Chat) error {
			return c.Rewrite(ctx, journal.Rewrite{ArchiveID: "x", To: 1, Insert: storetest.Turns(7, 7)})
		}},
	}
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, errShort} {
		for _, op := range operations {
			t.Run(fmt.Sprint(op.name, " ", cause), func(t *testing.T) {
				for skip, more := 0, true; more; skip++ {
					plan, fsys := faulty()
					b := newBench(t, Options{FS: fsys})
					c := b.chat(t)
					must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 2)...))
					must(t, c.Append(t.Context(), storetest.Facts(1, 2)...))
					before, err := c.Load(t.Context())
					must(t, err)
					plan.set(cause, skip, func(op, _ string) bool { return op == "write" })
					err = op.do(t.Context(), c)
					more = plan.clear() > skip
					if more {
						wantRetryable(t, err, persistence.ErrFull)
						equal(t, "failed writes", 1.0, testutil.ToFloat64(b.metrics.failed.WithLabelValues("full")))
						after, err := c.Load(t.Context())
						must(t, err)
						equal(t, fmt.Sprintf("snapshot after write %d failed", skip+1), before, after)
						must(t, op.do(t.Context(), c))
					} else {
						must(t, err)
					}
					want, err := c.Load(t.Context())
					must(t, err)
					must(t, c.Close())
					equal(t, "snapshot of a new handle", want, b.load(t))
					if len(want.Damage) != 0 || cmpJSON(want) == cmpJSON(before) {
						t.Fatalf("the operation had no effect, or damage: %+v", want.Damage)
					}
				}
			})
		}
	}
}

func cmpJSON(s journal.Snapshot) string { return fmt.Sprintf("%v", s) }

func wantRetryable(t *testing.T, err, cause error) {
	t.Helper()
	var e *persistence.Error
	if !errors.Is(err, cause) || !errors.As(err, &e) || !e.Retryable {
		t.Fatalf("got %v, want %v that is retryable", err, cause)
	}
}

// An fsync that fails once is final: no later write succeeds. A new handle sees what the disk has.
func TestFailedForceIsFinal(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(ctx context.Context, c persistence.Chat) error
		// match selects the fsync that fails.
		match func(op, name string) bool
	}{
		{"journal", func(ctx context.Context, c persistence.Chat) error { return c.Append(ctx, storetest.Facts(3, 3)...) }, on("datasync", journalName)},
		{"checkpoint, history", checkpointOne, on("datasync", messagesDir+"/history.jsonl")},
		{"checkpoint, ledger", checkpointOne, on("datasync", ledgerName)},
		{"checkpoint, meta", checkpointOne, on("datasync", metaLogName)},
		{"checkpoint, rest", checkpointRest, on("datasync", journalName+tempSuffix)},
		{"checkpoint, folder of the rest", checkpointRest, func(op, name string) bool { return op == "syncdir" && strings.HasSuffix(name, messagesDir) }},
		{"checkpoint, folder", checkpointOne, on("syncdir", conversationsDir)},
		{"rewrite, history", rewriteOne, on("datasync", historyName+tempSuffix)},
		{"rewrite, archive", rewriteOne, on("datasync", "x.json"+tempSuffix)},
		{"rewrite, folder", rewriteOne, on("syncdir", messagesDir)},
		{"wake", func(ctx context.Context, c persistence.Chat) error { return c.Wake(ctx) }, func(op, _ string) bool { return op == "syncdir" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan, fsys := faulty()
			b := newBench(t, Options{FS: fsys})
			c := b.chat(t)
			must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 2)...))
			must(t, c.Append(t.Context(), storetest.Facts(1, 2)...))
			plan.set(syscall.EIO, 0, tc.match)
			err := tc.do(t.Context(), c)
			if plan.clear() == 0 {
				t.Fatal("nothing was forced")
			}
			var e *persistence.Error
			if !errors.Is(err, syscall.EIO) || !errors.As(err, &e) || e.Retryable {
				t.Fatalf("got %v, want EIO that is final", err)
			}
			for name, err := range map[string]error{
				"append": c.Append(t.Context(), storetest.Facts(8, 8)...), "note": c.Note(t.Context(), storetest.Facts(8, 8)...),
				"history": c.AppendHistory(t.Context(), storetest.Turn(8)), "checkpoint": checkpointOne(t.Context(), c),
				"rewrite": rewriteOne(t.Context(), c), "wake": c.Wake(t.Context()),
			} {
				if !errors.Is(err, persistence.ErrReadOnly) || !errors.As(err, &e) || e.Retryable {
					t.Errorf("%s afterwards: %v, want ErrReadOnly", name, err)
				}
			}
			if _, err := c.Load(t.Context()); err != nil {
				t.Errorf("load afterwards: %v", err)
			}
			equal(t, "failed writes", 1.0, testutil.ToFloat64(b.metrics.failed.WithLabelValues("final")))
			must(t, c.Close())
			c = b.chat(t)
			must(t, c.Append(t.Context(), storetest.Facts(9, 9)...))
			must(t, checkpointOne(t.Context(), c))
			snap, err := c.Load(t.Context())
			must(t, err)
			if len(snap.Damage) != 0 || len(snap.History) < 2 {
				t.Errorf("a new handle sees %+v", snap)
			}
			must(t, c.Close())
		})
	}
}

func checkpointOne(ctx context.Context, c persistence.Chat) error {
	return c.Checkpoint(ctx, journal.Checkpoint{History: storetest.Turns(3, 3), Ledger: storetest.Entries(1, 2), Meta: journal.Meta{Version: 1, IngressIDs: []string{"a"}}})
}

func checkpointRest(ctx context.Context, c persistence.Chat) error {
	return c.Checkpoint(ctx, journal.Checkpoint{Rest: storetest.Facts(5, 6)})
}

func rewriteOne(ctx context.Context, c persistence.Chat) error {
	return c.Rewrite(ctx, journal.Rewrite{ArchiveID: "x", To: 1, Insert: storetest.Turns(7, 7)})
}

// Any other failed write is final too, and an operation that cannot even open its file has no
// effect.
func TestOtherFailures(t *testing.T) {
	plan, fsys := faulty()
	b := newBench(t, Options{FS: fsys})
	c := b.chat(t)
	must(t, c.Append(t.Context(), storetest.Facts(1, 1)...))
	must(t, c.Close())
	c = b.chat(t)
	plan.set(syscall.EACCES, 0, on("open", journalName))
	wantRetryable(t, c.Append(t.Context(), storetest.Facts(2, 2)...), syscall.EACCES)
	plan.set(syscall.EIO, 0, on("read", journalName))
	wantRetryable(t, c.Append(t.Context(), storetest.Facts(2, 2)...), syscall.EIO)
	plan.clear()
	must(t, c.Append(t.Context(), storetest.Facts(2, 2)...))
	plan.set(syscall.EIO, 0, on("write", journalName))
	if err := c.Append(t.Context(), storetest.Facts(3, 3)...); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want EIO", err)
	}
	plan.clear()
	if err := c.Append(t.Context(), storetest.Facts(3, 3)...); !errors.Is(err, persistence.ErrReadOnly) {
		t.Fatalf("got %v, want ErrReadOnly", err)
	}
	must(t, c.Close())
	equal(t, "journal", storetest.Facts(1, 2), b.load(t).Journal)
	// A disk so full that the write cannot even be undone.
	c = b.chat(t)
	failing := func(op, _ string) bool { return op == "write" || op == "truncate" }
	plan.set(syscall.ENOSPC, 0, failing)
	plan.times = 2
	var e *persistence.Error
	if err := c.Append(t.Context(), storetest.Facts(3, 3)...); !errors.As(err, &e) || e.Retryable {
		t.Fatalf("got %v, want an error that is final", err)
	}
	plan.clear()
	must(t, c.Close())
	equal(t, "journal", storetest.Facts(1, 2), b.load(t).Journal)
}

// script is a chat's life. It stops at the first error and reports how many turns and records were
// acknowledged.
func script(ctx context.Context, s *Store) (turns, records int64, err error) {
	c, err := s.OpenChat(ctx, testKey)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err = c.Load(ctx); err != nil {
		return turns, records, err
	}
	if err = c.Wake(ctx); err != nil {
		return turns, records, err
	}
	for turns < 3 {
		if err = c.AppendHistory(ctx, storetest.Turn(int(turns)+1)); err != nil {
			return turns, records, err
		}
		turns++
		if err = c.Append(ctx, storetest.Facts(records+1, records+1)...); err != nil {
			return turns, records, err
		}
		records++
		checkpoint := journal.Checkpoint{
			Ledger: storetest.Entries(records, records), History: []uimessage.Message{storetest.Reply(int(turns))},
			Meta: journal.Meta{Version: 1, IngressIDs: []string{fmt.Sprint(turns)}, N: records},
		}
		if err = c.Checkpoint(ctx, checkpoint); err != nil {
			return turns, records, err
		}
	}
	r := journal.Rewrite{ArchiveID: "x", To: 2, Insert: storetest.Turns(9, 9), Meta: journal.Meta{Version: 1, IngressIDs: []string{"3"}, N: records}}
	if err = c.Rewrite(ctx, r); err != nil {
		return turns, records, err
	}
	return turns, records, c.Rest(ctx)
}

// Whichever operation on the file system fails, the error is typed, and what was acknowledged
// before is there.
func TestEveryOperationFails(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		t.Run(cause.Error(), func(t *testing.T) {
			for skip, more := 0, true; more; skip++ {
				plan, fsys := faulty()
				b := newBench(t, Options{FS: fsys, LedgerBytes: 300})
				plan.set(cause, skip, nil)
				turns, records, err := script(t.Context(), b.Store)
				more = plan.clear() > skip
				var e *persistence.Error
				if err != nil && !errors.As(err, &e) {
					t.Fatalf("operation %d: %v is no *persistence.Error", skip+1, err)
				}
				if err == nil && !more && turns != 3 {
					t.Fatalf("the script ended early")
				}
				checkScript(t, b, skip, turns, records)
				// The same life continues with what is there.
				if c := b.chat(t); true {
					must(t, c.Append(t.Context(), storetest.Facts(50, 50)...))
					must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(50, 50), Meta: journal.Meta{Version: 1}}))
					must(t, c.AppendHistory(t.Context(), storetest.Turn(60)))
					must(t, c.Close())
				}
			}
		})
	}
}

func checkScript(t *testing.T, b *bench, skip int, turns, records int64) {
	t.Helper()
	snap := b.load(t)
	if len(snap.Damage) > 0 {
		t.Fatalf("operation %d: damage %+v", skip+1, snap.Damage)
	}
	have := map[string]bool{}
	for _, m := range snap.History {
		have[m.ID] = true
	}
	for n := int64(1); n <= turns; n++ {
		rewritten := have["u9"] && n == 1 // with the reply in the archive
		if !have[fmt.Sprint("u", n)] && !rewritten {
			t.Fatalf("operation %d: turn %d was acknowledged and is gone", skip+1, n)
		}
	}
	held := snap.LedgerN
	for _, r := range snap.Journal {
		held = max(held, r.N)
	}
	if held < records {
		t.Fatalf("operation %d: %d records were acknowledged, %d are there", skip+1, records, held)
	}
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	seen := map[string]bool{}
	for e, err := range c.Ledger(t.Context()) {
		must(t, err)
		if id := fmt.Sprint(e.N, e.Dir); seen[id] {
			t.Fatalf("operation %d: ledger entry %s twice", skip+1, id)
		} else {
			seen[id] = true
		}
	}
}

// No descriptors are available for a while: the store waits and loses nothing.
func TestOutOfDescriptors(t *testing.T) {
	plan, fsys := faulty()
	files := &countingFS{FS: fsys}
	b := newBench(t, Options{FS: files, OpenFiles: 8})
	var chats []persistence.Chat
	for i := range 50 {
		c, err := b.OpenChat(t.Context(), messages.ChatKey(fmt.Sprint("chat ", i)))
		must(t, err)
		chats = append(chats, c)
	}
	plan.set(syscall.EMFILE, 5, func(op, _ string) bool { return op == "open" || op == "syncdir" })
	plan.times = 40
	var wg sync.WaitGroup
	for _, c := range chats {
		wg.Go(func() {
			for n := 1; n <= 5; n++ {
				if err := c.AppendHistory(t.Context(), storetest.Turn(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, c := range chats {
		snap, err := c.Load(t.Context())
		must(t, err)
		equal(t, "history", storetest.Turns(1, 5), snap.History)
	}
	if n := files.most.Load(); n > 8 {
		t.Errorf("%d files were open at once, at most 8 are allowed", n)
	}
	for _, c := range chats {
		must(t, c.Close())
	}
	if n := files.open.Load(); n != 0 {
		t.Errorf("%d files are open after all chats were closed", n)
	}
}

// countingFS counts the files that are open at once.
type countingFS struct {
	vfs.FS

	open, most atomic.Int64
}

func (c *countingFS) OpenFile(name string, flag int) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag)
	if err != nil {
		return nil, err
	}
	for n := c.open.Add(1); ; {
		if most := c.most.Load(); n <= most || c.most.CompareAndSwap(most, n) {
			return &countedFile{f, c}, nil
		}
	}
}

type countedFile struct {
	vfs.File

	fs *countingFS
}

func (f *countedFile) Close() error {
	f.fs.open.Add(-1)
	return f.File.Close()
}
