package filestore

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// descriptors bounds the files that are open at once. Unused files stay open until their slot is
// needed; the least recently used ones are closed first (second chance). The common path, using an
// open file, touches no state that chats share.
type descriptors struct {
	fs    vfs.FS
	slots chan struct{} // one token for each descriptor that may still be opened

	// waiting counts the callers that wait for a slot. While there are any, a file is closed after
	// its use.
	waiting atomic.Int64

	mu   sync.Mutex
	ring []*handle // the open ones
	hand int
}

func newDescriptors(fsys vfs.FS, limit int) *descriptors {
	d := &descriptors{fs: fsys, slots: make(chan struct{}, limit)}
	for range limit {
		d.slots <- struct{}{}
	}
	return d
}

// handle is a named file, open or not.
type handle struct {
	name string

	mu   sync.Mutex // locked while in use
	file vfs.File   // nil if it is not open
	used atomic.Bool
}

// use calls fn with the file, opening it with flag if it is not open.
func (d *descriptors) use(ctx context.Context, h *handle, flag int, fn func(vfs.File) error) error {
	err := d.alone(ctx, h, flag, fn)
	if d.waiting.Load() > 0 && h.mu.TryLock() {
		d.closeLocked(h)
		h.mu.Unlock()
	}
	return err
}

// alone calls fn while the file is in use, and marks it as unused even after a panic.
func (d *descriptors) alone(ctx context.Context, h *handle, flag int, fn func(vfs.File) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		if err := d.open(ctx, h, flag); err != nil {
			return err
		}
	}
	h.used.Store(true)
	return fn(h.file)
}

func (d *descriptors) open(ctx context.Context, h *handle, flag int) error {
	if err := d.take(ctx); err != nil {
		return err
	}
	f, err := d.openFile(ctx, h.name, flag)
	if err != nil {
		d.give()
		return err
	}
	h.file = f
	d.mu.Lock()
	d.ring = append(d.ring, h)
	d.mu.Unlock()
	return nil
}

// openFile opens a file; if the process has no descriptors left, it waits for one.
func (d *descriptors) openFile(ctx context.Context, name string, flag int) (f vfs.File, err error) {
	err = d.patiently(ctx, func() error {
		f, err = d.fs.OpenFile(name, flag)
		return err
	})
	return f, err
}

// patiently repeats fn while the process has no descriptors left. It closes unused files, and then
// waits.
func (d *descriptors) patiently(ctx context.Context, fn func() error) error {
	const shortest, longest = time.Millisecond, 100 * time.Millisecond
	for pause := shortest; ; pause = min(2*pause, longest) {
		err := fn()
		if err == nil || !exhausted(err) {
			return err
		}
		if d.evict() {
			d.give()
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// once calls fn, which opens and closes at most one descriptor.
func (d *descriptors) once(ctx context.Context, fn func() error) error {
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	return d.patiently(ctx, fn)
}

// temporary calls fn with a file that is closed afterwards.
func (d *descriptors) temporary(ctx context.Context, name string, flag int, fn func(vfs.File) error) (err error) {
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	f, err := d.openFile(ctx, name, flag)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return fn(f)
}

// take acquires the right to open one descriptor.
func (d *descriptors) take(ctx context.Context) error {
	select {
	case <-d.slots:
		return nil
	default:
	}
	d.waiting.Add(1)
	defer d.waiting.Add(-1)
	if d.evict() {
		return nil
	}
	select {
	case <-d.slots:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *descriptors) give() { d.slots <- struct{}{} }

// evict closes an unused file. The caller gets its slot.
func (d *descriptors) evict() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for range 2 * len(d.ring) {
		d.hand %= len(d.ring)
		h := d.ring[d.hand]
		if h.used.Swap(false) || !h.mu.TryLock() {
			d.hand++
			continue
		}
		h.shut()
		d.drop(d.hand)
		h.mu.Unlock()
		return true
	}
	return false
}

func (d *descriptors) drop(i int) {
	last := len(d.ring) - 1
	d.ring[i] = d.ring[last]
	d.ring[last] = nil
	d.ring = d.ring[:last]
}

// close closes the handle's file, if it is open.
func (d *descriptors) close(h *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.closeLocked(h)
}

func (d *descriptors) closeLocked(h *handle) {
	if h.file == nil {
		return
	}
	h.shut()
	d.mu.Lock()
	if i := slices.Index(d.ring, h); i >= 0 {
		d.drop(i)
	}
	d.mu.Unlock()
	d.give()
}

// shut closes the file. Its error is ignored, because errors of the contents were already reported
// by write and fsync.
func (h *handle) shut() {
	_ = h.file.Close()
	h.file = nil
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
