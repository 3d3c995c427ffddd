package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// File is a document with a value of type T. Path, Max, Decode and Encode are required.
type File[T any] struct {
	Path string
	Disk Disk
	// Max is the longest file that is read, in bytes.
	Max int64
	// Trust refuses a file that another user may have written; see [ReadOwn]. nil accepts any file.
	Trust func(fs.FileInfo) error
	// Decode decodes and validates the content. A missing file is nil.
	Decode func(raw []byte) (T, error)
	Encode func(T) ([]byte, error)
	// Unreadable rewrites the error of a file that cannot be read or decoded; nil leaves it
	// unchanged.
	Unreadable func(error) error
	// Lock serialises the changes; nil if there is only one writer.
	Lock *Lock
}

// Read returns the current value of the file.
func (f File[T]) Read() (v T, err error) {
	var raw []byte
	if f.Trust != nil {
		raw, err = ReadOwn(f.Path, f.Max, f.Trust)
	} else {
		raw, err = Read(f.Path, f.Max)
	}
	if err == nil {
		v, err = f.Decode(raw)
	}
	if err != nil && f.Unreadable != nil {
		err = f.Unreadable(err)
	}
	return v, err
}

// Write replaces the value.
func (f File[T]) Write(v T) error {
	raw, err := f.Encode(v)
	if err != nil {
		return err
	}
	return f.Disk.Write(f.Path, raw)
}

// ErrSame is returned by a change that changes nothing: the file is not written, and Change
// succeeds.
var ErrSame = errors.New("nothing to change")

// Change replaces the value with the result of change. An error of change leaves the file
// unchanged.
func (f File[T]) Change(ctx context.Context, change func(*T) error) error {
	work := func() error {
		v, err := f.Read()
		if err != nil {
			return err
		}
		if err := change(&v); err != nil {
			return err
		}
		return f.Write(v)
	}
	if f.Lock != nil {
		locked := work
		work = func() error { return f.Lock.Do(ctx, f.Disk, locked) }
	}
	if err := work(); !errors.Is(err, ErrSame) {
		return err
	}
	return nil
}

// Strict decodes a JSON document into v. It refuses members that v does not have, because the next
// write would lose them, and anything after the document.
func Strict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("at byte %d: more than one value", dec.InputOffset())
	}
	return nil
}

// Indented encodes a document as readable JSON.
func Indented[T any](v T) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return append(raw, '\n'), err
}

// lockRetry is the interval at which a lock of another process is retried.
const lockRetry = 5 * time.Millisecond

// Lock lets one caller at a time, of all processes, change its documents. It is a file that is
// never removed: removing it would let two processes lock two files of the same name.
type Lock struct {
	path string
	mu   sync.Mutex
}

// NewLock makes a lock. It touches nothing until it is used.
func NewLock(path string) *Lock { return &Lock{path: path} }

// Do runs work while holding the lock. The folder of the lock is made if necessary.
func (l *Lock) Do(ctx context.Context, disk Disk, work func() error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := disk.MakeDir(filepath.Dir(l.path)); err != nil {
		return err
	}
	lock := flock.New(l.path, flock.SetPermissions(fileMode))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return work()
}
