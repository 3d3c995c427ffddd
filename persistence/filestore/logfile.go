package filestore

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/descriptors"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// undone is an error without effect: what was written has been cut off again. The operation may be
// retried.
type undone struct{ cause error }

func (e *undone) Error() string { return e.cause.Error() }

func (e *undone) Unwrap() error { return e.cause }

func isUndone(err error) bool {
	_, ok := errors.AsType[*undone](err)
	return ok
}

// harmless marks an error of an operation that changes nothing if it fails.
func harmless(err error) error {
	if err == nil {
		return nil
	}
	return &undone{full(err)}
}

// full recognises the errors of a full disk.
func full(err error) error {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, io.ErrShortWrite} {
		if errors.Is(err, cause) {
			return errors.Join(persistence.ErrFull, err)
		}
	}
	return err
}

// logFile is an append-only file of lines with one writer.
type logFile struct {
	files *descriptors.Pool
	h     descriptors.Handle
	// padding is a piece in which the file grows; nil means that it is not padded.
	padding []byte

	exists bool
	size   int64 // end of the last intact record
	room   int64 // end of the padding after it, as far as known
	open   bool  // the last line has no newline
	torn   linefile.Region
	// unsynced is set if a part of the file may not be durable, and unnamed if its name may not be.
	unsynced, unnamed bool
}

// newLog returns a file that was not read yet.
func newLog(files *descriptors.Pool, dir, name string) *logFile {
	return &logFile{files: files, h: descriptors.Handle{Dir: dir, Name: name}}
}

// read calls fn with the file, or returns fs.ErrNotExist.
func (l *logFile) read(ctx context.Context, fn func(vfs.File) error) error {
	return l.files.Use(ctx, &l.h, os.O_RDWR, fn)
}

// create makes the file if it is missing. Its name is not fsynced yet.
func (l *logFile) create(ctx context.Context) error {
	if l.exists {
		return nil
	}
	err := l.files.Use(ctx, &l.h, os.O_RDWR|os.O_CREATE, func(vfs.File) error { return nil })
	l.exists, l.unnamed = err == nil, err == nil
	return harmless(err)
}

// write adds lines without an fsync. Each of them starts with a joint, which the first one omits if
// all before it is durable. A write that fails is cut off again; if that succeeds and the disk was
// full, the write may be retried.
func (l *logFile) write(ctx context.Context, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	flag := os.O_RDWR
	if !l.exists {
		flag |= os.O_CREATE
	}
	opened := false
	err := l.files.Use(ctx, &l.h, flag, func(f vfs.File) error {
		opened, l.exists, l.unnamed = true, true, l.unnamed || !l.exists
		return l.writeTo(f, lines)
	})
	if err != nil && !opened {
		return harmless(err)
	}
	return err
}

func (l *logFile) writeTo(f vfs.File, lines []byte) error {
	at := l.size
	if !l.unsynced {
		lines = lines[1:]
	}
	l.unsynced = true
	if l.open {
		if err := vfs.WriteFull(f, []byte{'\n'}, at); err != nil {
			return l.cut(f, err)
		}
		at++
	}
	if err := vfs.WriteFull(f, lines, at); err != nil {
		return l.cut(f, err)
	}
	end := at + int64(len(lines))
	if end > l.room && len(l.padding) > 0 {
		room, err := vfs.Pad(f, l.padding, end)
		if err != nil {
			return l.cut(f, err)
		}
		l.room = room
	}
	l.size, l.open = end, false
	return nil
}

// trim removes padding, which is harmless but ugly for others who read the file. After a failed fsync
// it would keep in memory what is not on the disk.
func (l *logFile) trim() {
	if l.exists && l.room > l.size && !l.unsynced {
		_ = l.read(context.Background(), func(f vfs.File) error { return f.Truncate(l.size) })
		l.room = l.size
	}
}

// cut removes what a failed write left.
func (l *logFile) cut(f vfs.File, cause error) error {
	l.room = l.size
	if err := f.Truncate(l.size); err != nil {
		return errors.Join(cause, err)
	}
	if err := full(cause); errors.Is(err, persistence.ErrFull) {
		return &undone{err}
	}
	return cause
}

// sync fsyncs what was written, if necessary.
func (l *logFile) sync(ctx context.Context) error {
	if !l.exists || !l.unsynced {
		return nil
	}
	if err := l.read(ctx, vfs.File.Datasync); err != nil {
		return err
	}
	l.unsynced = false
	return nil
}

// clear empties the file, without an fsync.
func (l *logFile) clear(ctx context.Context) error { return l.back(ctx, mark{}) }

// mark is an end of the file to return to.
type mark struct {
	size int64
	open bool
}

func (l *logFile) mark() mark { return mark{l.size, l.open} }

// back undoes the writes since the mark, without an fsync.
func (l *logFile) back(ctx context.Context, m mark) error {
	if !l.exists || l.size == m.size && l.open == m.open {
		return nil
	}
	err := l.read(ctx, func(f vfs.File) error { return f.Truncate(m.size) })
	if err == nil {
		l.size, l.room, l.open, l.unsynced = m.size, m.size, m.open, true
	}
	return err
}

// replaced forgets the open descriptor, because the name now refers to another file.
func (l *logFile) replaced(size int64) {
	l.exists, l.size, l.room, l.open, l.unsynced = true, size, size, false, false
	l.files.Close(&l.h)
}
