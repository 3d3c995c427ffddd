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
	// Trust refuses a file that somebody else may have written; see [ReadOwn]. nil: any file.
	Trust func(fs.FileInfo) error
	// Decode validates what was read. A missing file is nil.
	Decode func(raw []byte) (T, error)
	Encode func(T) ([]byte, error)
	// Unreadable words the error of a file that cannot be read or decoded; nil: as it is.
	Unreadable func(error) error
	// Lock orders the changes; nil: nobody else changes the file.
	Lock *Lock
}

// Read is the value of the file as it is now.
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

// ErrSame ends a change that changes nothing: the file is not written, and the change succeeds.
var ErrSame = errors.New("nothing to change")

// Change replaces the value by what change makes of it. An error of change leaves the file as it
// is.
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

// Strict decodes a document of JSON into v and refuses members that v does not have, since the
// next write would lose them, and anything after it.
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

// Indented encodes a document as JSON that people can read and compare.
func Indented[T any](v T) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return append(raw, '\n'), err
}

// lockRetry is how often a lock that another process holds is tried again.
const lockRetry = 5 * time.Millisecond

// Lock lets one caller at a time, of all processes, change the documents that it stands for. It
// is a file, which stays: removing it would let two processes lock two files of one name.
type Lock struct {
	path string
	mu   sync.Mutex
}

// NewLock makes a lock. It touches nothing until it is used.
func NewLock(path string) *Lock { return &Lock{path: path} }

// Do runs work while nobody else holds the lock. The folder of the lock is made.
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
