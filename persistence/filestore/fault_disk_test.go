package filestore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// plan makes the n-th matching operation fail, once.
type plan struct {
	nth   int
	match func(filestoretest.Op) bool
	fault func(filestoretest.Op) error
	hits  int
	op    filestoretest.Op // the failed operation
}

func (p *plan) fail(op filestoretest.Op) error {
	if p.match != nil && !p.match(op) {
		return nil
	}
	if p.hits++; p.hits != p.nth {
		return nil
	}
	p.op = op
	return p.fault(op)
}

// faulty runs a chat's life with one fault in it. It reports whether the fault happened, and
// whether it was final.
func (l *life) faulty(steps []step, p *plan) (met, final bool, err error) {
	t, ctx := l.t, l.t.Context()
	t.Helper()
	s, err := filestoretest.Open(l.disk, l.options)
	must(t, err)
	c, err := s.OpenChat(ctx, crashKey)
	must(t, err)
	l.before, err = look(ctx, false, l.model, nil)
	must(t, err)
	l.disk.Fail(p.fail)
	for n, st := range steps {
		if st.rewrite != nil && st.rewrite.ArchiveID != "" {
			l.archives = append(l.archives, st.rewrite.ArchiveID)
		}
		must(t, st.do(ctx, l.model))
		l.step = st
		l.after, err = look(ctx, st.wake || !st.rest && l.before.marked, l.model, l.archives)
		must(t, err)
		if err := st.do(ctx, c); err != nil {
			final, err := l.failed(c, err)
			if err != nil || final {
				return true, final, wrapFault(n, st, p, err)
			}
			if err := st.do(ctx, c); err != nil {
				return true, false, wrapFault(n, st, p, fmt.Errorf("once more: %w", err))
			}
		}
		l.acknowledge()
		if st.rest {
			must(t, c.Close())
			c, err = s.OpenChat(ctx, crashKey)
			must(t, err)
		}
		if !st.rest && !st.reloaded {
			continue
		}
		l.disk.Fail(nil)
		mark := marked(l.disk)
		l.disk.Fail(p.fail)
		v, err := look(ctx, mark, c, l.archives)
		if err != nil { // the fault happened while reading
			v, err = look(ctx, mark, c, l.archives)
		}
		if err == nil {
			err = l.equal(v, l.before)
		}
		if err != nil {
			return true, false, wrapFault(n, st, p, err)
		}
	}
	l.disk.Fail(nil)
	return p.hits >= p.nth, false, l.everyState(s.Close)
}

func wrapFault(n int, st step, p *plan, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("step %d (%s), fault in %v: %w", n, st.name, p.op, err)
}

// failed checks the effect of a failed step: none, if the error says so; otherwise later writes are
// refused, and a new handle sees what is there.
func (l *life) failed(c persistence.Chat, cause error) (final bool, err error) {
	ctx := l.t.Context()
	l.disk.Fail(nil)
	e, typed := errors.AsType[*persistence.Error](cause)
	if !typed {
		return false, fmt.Errorf("%w is no *persistence.Error", cause)
	}
	if e.Retryable {
		v, err := look(ctx, l.before.marked, c, l.archives)
		if err == nil {
			err = l.equal(v, l.before)
		}
		if err != nil {
			return false, fmt.Errorf("%w left a trace: %w", cause, err)
		}
		return false, nil
	}
	for name, err := range map[string]error{
		"append":     c.Append(ctx, storetest.Facts(900_000, 900_000)...),
		"note":       c.Note(ctx, storetest.Facts(900_000, 900_000)...),
		"history":    c.AppendHistory(ctx, storetest.Turn(900_000)),
		"checkpoint": c.Checkpoint(ctx, journal.Checkpoint{}),
		"rewrite":    c.Rewrite(ctx, journal.Rewrite{}),
		"wake":       c.Wake(ctx),
		"rest":       c.Rest(ctx),
	} {
		if !errors.Is(err, persistence.ErrReadOnly) {
			return true, fmt.Errorf("%s after %w: %w, want ErrReadOnly", name, cause, err)
		}
	}
	if _, err := c.Load(ctx); err != nil {
		return true, fmt.Errorf("load after %w: %w", cause, err)
	}
	return true, l.everyState(func() error { return nil })
}

// everyState checks what the end of the process leaves, and some power cuts.
func (l *life) everyState(closing func() error) error {
	states := []*filestoretest.Disk{l.disk.Kill(), l.disk.Crash(filestoretest.Nothing), l.disk.Crash(filestoretest.Everything)}
	for d := range l.disk.CrashStates(6, l.seed) {
		states = append(states, d)
	}
	for i, d := range states {
		l.count++
		if err := l.check(d, true); err != nil {
			return errors.Join(fmt.Errorf("what is left, state %d: %w\n%s", i, err, dump(l.t, d)), closing())
		}
	}
	return closing()
}

// failEach runs one life for each matching operation of the protocol, with the fault at that
// operation; with a stride, only every stride-th.
func failEach(t *testing.T, stride int, match func(filestoretest.Op) bool, fault func(filestoretest.Op) error) {
	t.Helper()
	lives, finals, states := 0, 0, 0
	for nth := 1; ; nth += stride {
		l := newLife(t, 6, uint64(nth))
		met, final, err := l.faulty(protocol(), &plan{nth: nth, match: match, fault: fault})
		if err != nil {
			t.Fatalf("operation %d: %v", nth, err)
		}
		if !met {
			break
		}
		lives, states = lives+1, states+l.count
		if final {
			finals++
		}
	}
	t.Logf("%d faults, %d of them final, %d states", lives, finals, states)
	if lives == 0 {
		t.Error("no operation failed")
	}
}

// The n-th fsync fails: the chat is read-only from then on, later writes are refused, and a new
// handle sees what the disk has.
func TestST8EveryForceFails(t *testing.T) {
	stride := 3
	if soak() {
		stride = 1
	}
	for _, kind := range []filestoretest.Kind{filestoretest.OpDatasync, filestoretest.OpSyncDir} {
		t.Run(string(kind), func(t *testing.T) {
			failEach(t, stride, func(op filestoretest.Op) bool { return op.Kind == kind }, func(filestoretest.Op) error { return syscall.EIO })
		})
	}
}

// The n-th operation fails, whatever it is: the error is typed, and no partial state is left.
func TestST19EveryOperationFails(t *testing.T) {
	stride := 29
	if soak() {
		stride = 1
	}
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		t.Run(cause.Error(), func(t *testing.T) {
			failEach(t, stride, nil, func(op filestoretest.Op) error {
				if op.Kind == filestoretest.OpWrite {
					return &filestoretest.Short{N: op.Size / 2, Err: cause}
				}
				return cause
			})
		})
	}
	t.Run("no descriptors", func(t *testing.T) {
		opens := func(op filestoretest.Op) bool {
			return op.Kind == filestoretest.OpOpen || op.Kind == filestoretest.OpSyncDir
		}
		failEach(t, stride, opens, func(filestoretest.Op) error { return syscall.EMFILE })
	})
}

// The disk is full at every byte of a record: the write is undone, the file has its old size, and
// the next write succeeds once there is space.
func TestST9FullAtEveryByte(t *testing.T) {
	full := 0
	for _, st := range protocol()[:14] {
		if st.records == nil && st.turns == nil && st.checkpoint == nil {
			continue
		}
		for n, more := 0, true; more; n += stepOf(n) {
			l := newLife(t, 3, uint64(n))
			p := &plan{nth: 1, match: func(op filestoretest.Op) bool { return op.Kind == filestoretest.OpWrite && l.step.name == st.name }}
			p.fault = func(op filestoretest.Op) error {
				more = n < op.Size
				return &filestoretest.Short{N: n, Err: syscall.ENOSPC}
			}
			met, final, err := l.faulty(protocol()[:16], p)
			if err != nil || !met || final {
				t.Fatalf("%s, byte %d: met %v, final %v: %v", st.name, n, met, final, err)
			}
			full++
		}
	}
	t.Logf("the disk was full %d times", full)
}

// stepOf tests every byte of short data, and some of long data.
func stepOf(n int) int {
	switch {
	case soak():
		return 1 + n/1000
	case n < 3:
		return 1
	default:
		return 101 + n/4
	}
}

// A short write without an error counts as a full disk too.
func TestST9ShortWrite(t *testing.T) {
	stride := 3
	if soak() {
		stride = 1
	}
	failEach(t, stride, func(op filestoretest.Op) bool { return op.Kind == filestoretest.OpWrite && op.Size > 1 },
		func(op filestoretest.Op) error { return &filestoretest.Short{N: op.Size - 1} })
}

// A disk without any space accepts nothing and loses nothing, as long as that lasts.
func TestST9FullForAWhile(t *testing.T) {
	d := filestoretest.NewDisk()
	s, err := filestoretest.Open(d, filestore.Options{})
	must(t, err)
	c, err := s.OpenChat(t.Context(), crashKey)
	must(t, err)
	must(t, c.Wake(t.Context()))
	must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 3)...))
	d.Fail(func(op filestoretest.Op) error {
		if op.Kind == filestoretest.OpWrite || op.Kind == filestoretest.OpMkdir {
			return syscall.ENOSPC
		}
		return nil
	})
	for n := 4; n < 40; n++ {
		for _, err := range []error{c.AppendHistory(t.Context(), storetest.Turn(n)), c.Append(t.Context(), storetest.Facts(1, 1)...)} {
			e, typed := errors.AsType[*persistence.Error](err)
			if !typed || !e.Retryable || !errors.Is(err, persistence.ErrFull) {
				t.Fatalf("got %v, want ErrFull that is retryable", err)
			}
		}
	}
	d.Fail(nil)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(4)))
	must(t, s.Close())
	s, err = filestoretest.Open(d.Crash(filestoretest.Nothing), filestore.Options{})
	must(t, err)
	c, err = s.OpenChat(t.Context(), crashKey)
	must(t, err)
	snap, err := c.Load(t.Context())
	must(t, err)
	if len(snap.History) != 4 || len(snap.Damage) != 0 || len(snap.Journal) != 0 {
		t.Errorf("found %d turns, %d records, damage %+v", len(snap.History), len(snap.Journal), snap.Damage)
	}
	if _, err := d.Lstat(path.Join(filestoretest.Dir, "chat", string(crashKey), "messages/quarantine")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something went to quarantine: %v", err)
	}
}

// A checkpoint that moves damage to quarantine before it makes the ledger loses nothing to a power cut after it: the
// quarantine fsyncs the noted folders while the ledger's still is without it.
func TestST3CheckpointThatMendsFirst(t *testing.T) {
	d := filestoretest.NewDisk()
	s, err := filestoretest.Open(d, filestore.Options{})
	must(t, err)
	c, err := s.OpenChat(t.Context(), crashKey)
	must(t, err)
	must(t, c.Wake(t.Context()))
	must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
	must(t, c.Append(t.Context(), storetest.Facts(1, 3)...))
	must(t, s.Close())

	f, err := d.OpenFile(path.Join(filestoretest.Dir, "chat", string(crashKey), "messages/history.jsonl"), os.O_RDWR)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	must(t, vfs.WriteFull(f, []byte(`{"id":"u2","role`), size))
	must(t, errors.Join(f.Datasync(), f.Close()))
	s, err = filestoretest.Open(d, filestore.Options{})
	must(t, err)
	c, err = s.OpenChat(t.Context(), crashKey)
	must(t, err)
	d.Fail(func(op filestoretest.Op) error { // the damage cannot be moved yet
		if op.Kind == filestoretest.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	})
	_, err = c.Load(t.Context())
	must(t, err)
	d.Fail(nil)
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{History: []uimessage.Message{storetest.Turn(2)}, Ledger: storetest.Entries(1, 3), Meta: metaOf("i1")}))

	s, err = filestoretest.Open(d.Crash(filestoretest.Nothing), filestore.Options{})
	must(t, err)
	c, err = s.OpenChat(t.Context(), crashKey)
	must(t, err)
	n := 0
	for _, err := range c.Ledger(t.Context()) {
		must(t, err)
		n++
	}
	if want := len(storetest.Entries(1, 3)); n != want {
		t.Errorf("the ledger has %d entries after the cut, want %d", n, want)
	}
}
