package filestore

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// undone is an error that left no trace: what was written of it is cut off
// again. The operation may be repeated.
type undone struct{ cause error }

func (e *undone) Error() string { return e.cause.Error() }

func (e *undone) Unwrap() error { return e.cause }

func isUndone(err error) bool {
	_, ok := errors.AsType[*undone](err)
	return ok
}

// harmless marks an error of an operation that changes nothing when it fails.
func harmless(err error) error {
	if err == nil {
		return nil
	}
	return &undone{full(err)}
}

// full names the errors that mean a full disk.
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
	files *descriptors
	h     handle

	exists bool
	size   int64 // end of the last good record
	open   bool  // the last line lacks its newline
	torn   region
	// unforced says that not all of the file is known to be on the disk.
	unforced bool
}

// newLog is a file that has not been looked at.
func newLog(files *descriptors, name string) *logFile {
	return &logFile{files: files, h: handle{name: name}}
}

// read calls fn with the file; a missing one is reported as fs.ErrNotExist.
func (l *logFile) read(ctx context.Context, fn func(vfs.File) error) error {
	return l.files.use(ctx, &l.h, os.O_RDWR, fn)
}

// create makes the file if it is not there. Its name is not forced yet.
func (l *logFile) create(ctx context.Context) error {
	if l.exists {
		return nil
	}
	err := l.files.use(ctx, &l.h, os.O_RDWR|os.O_CREATE, func(vfs.File) error { return nil })
	l.exists = err == nil
	return harmless(err)
}

// write adds lines, not forced yet. Each of them begins with a joint, which is
// left out of the first one when all before it is forced. A write that fails is
// cut off again, and if that works for want of space it may be repeated.
func (l *logFile) write(ctx context.Context, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	flag := os.O_RDWR
	if !l.exists {
		flag |= os.O_CREATE
	}
	opened := false
	err := l.files.use(ctx, &l.h, flag, func(f vfs.File) error {
		opened, l.exists = true, true
		return l.writeTo(f, lines)
	})
	if err != nil && !opened {
		return harmless(err)
	}
	return err
}

func (l *logFile) writeTo(f vfs.File, lines []byte) error {
	at := l.size
	if !l.unforced {
		lines = lines[1:]
	}
	l.unforced = true
	if l.open {
		if err := writeFull(f, []byte{'\n'}, at); err != nil {
			return l.cut(f, err)
		}
		at++
	}
	if err := writeFull(f, lines, at); err != nil {
		return l.cut(f, err)
	}
	l.size, l.open = at+int64(len(lines)), false
	return nil
}

// cut removes what a failed write left.
func (l *logFile) cut(f vfs.File, cause error) error {
	if err := f.Truncate(l.size); err != nil {
		return errors.Join(cause, err)
	}
	if err := full(cause); errors.Is(err, persistence.ErrFull) {
		return &undone{err}
	}
	return cause
}

func writeFull(f vfs.File, b []byte, off int64) error {
	n, err := f.WriteAt(b, off)
	if err == nil && n < len(b) {
		return io.ErrShortWrite
	}
	return err
}

// force makes all that was written durable, if it is not.
func (l *logFile) force(ctx context.Context) error {
	if !l.exists || !l.unforced {
		return nil
	}
	if err := l.read(ctx, vfs.File.Datasync); err != nil {
		return err
	}
	l.unforced = false
	return nil
}

// clear empties the file, not forced yet.
func (l *logFile) clear(ctx context.Context) error { return l.back(ctx, mark{}) }

// mark is an end of the file to go back to.
type mark struct {
	size int64
	open bool
}

func (l *logFile) mark() mark { return mark{l.size, l.open} }

// back undoes the writes since the mark, not forced yet.
func (l *logFile) back(ctx context.Context, m mark) error {
	if !l.exists || l.size == m.size && l.open == m.open {
		return nil
	}
	err := l.read(ctx, func(f vfs.File) error { return f.Truncate(m.size) })
	if err == nil {
		l.size, l.open, l.unforced = m.size, m.open, true
	}
	return err
}

// replaced forgets the open descriptor: the name stands for another file now.
func (l *logFile) replaced(size int64) {
	l.exists, l.size, l.open, l.unforced = true, size, false, false
	l.files.close(&l.h)
}
