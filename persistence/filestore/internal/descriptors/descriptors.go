// Package descriptors bounds the files that a store has open at once.
//
// The common path, using a file that is open, touches no state that files share. Waiting for a
// descriptor ends with the caller's context.
package descriptors

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// Pool bounds the files that are open at once. Unused files stay open until their slot is needed;
// the least recently used ones are closed first (second chance).
type Pool struct {
	fs    vfs.FS
	slots chan struct{} // one token for each descriptor that may still be opened

	// waiting counts the callers that wait for a slot. While there are any, a file is closed after
	// its use.
	waiting atomic.Int64

	mu   sync.Mutex
	ring []*Handle // the open ones
	hand int
}

// New makes a pool of at most limit files.
func New(fsys vfs.FS, limit int) *Pool {
	d := &Pool{fs: fsys, slots: make(chan struct{}, limit)}
	for range limit {
		d.slots <- struct{}{}
	}
	return d
}

// Handle is a named file, open or not.
type Handle struct {
	Dir, Name string // the parts of its path; the files of a folder share the memory of the first

	mu   sync.Mutex // locked while in use
	file vfs.File   // nil if it is not open
	used atomic.Bool
}

// Path returns the path of the file.
func (h *Handle) Path() string { return path.Join(h.Dir, h.Name) }

// Use calls fn with the file, opening it with flag if it is not open.
func (d *Pool) Use(ctx context.Context, h *Handle, flag int, fn func(vfs.File) error) error {
	err := d.alone(ctx, h, flag, fn)
	if d.waiting.Load() > 0 && h.mu.TryLock() {
		d.closeLocked(h)
		h.mu.Unlock()
	}
	return err
}

// alone calls fn while the file is in use, and marks it as unused even after a panic.
func (d *Pool) alone(ctx context.Context, h *Handle, flag int, fn func(vfs.File) error) error {
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

func (d *Pool) open(ctx context.Context, h *Handle, flag int) error {
	if err := d.take(ctx); err != nil {
		return err
	}
	f, err := d.openFile(ctx, h.Path(), flag)
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
func (d *Pool) openFile(ctx context.Context, name string, flag int) (f vfs.File, err error) {
	err = d.patiently(ctx, func() error {
		f, err = d.fs.OpenFile(name, flag)
		return err
	})
	return f, err
}

// patiently repeats fn while the process has no descriptors left. It closes unused files, and then
// waits.
func (d *Pool) patiently(ctx context.Context, fn func() error) error {
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
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Once calls fn, which opens and closes at most one descriptor.
func (d *Pool) Once(ctx context.Context, fn func() error) error {
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	return d.patiently(ctx, fn)
}

// Temporary calls fn with a file that is closed afterwards.
func (d *Pool) Temporary(ctx context.Context, name string, flag int, fn func(vfs.File) error) (err error) {
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
func (d *Pool) take(ctx context.Context) error {
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

func (d *Pool) give() { d.slots <- struct{}{} }

// evict closes an unused file. The caller gets its slot.
func (d *Pool) evict() bool {
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

func (d *Pool) drop(i int) {
	last := len(d.ring) - 1
	d.ring[i] = d.ring[last]
	d.ring[last] = nil
	d.ring = d.ring[:last]
}

// Close closes the handle's file, if it is open.
func (d *Pool) Close(h *Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.closeLocked(h)
}

func (d *Pool) closeLocked(h *Handle) {
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
func (h *Handle) shut() {
	_ = h.file.Close()
	h.file = nil
}
