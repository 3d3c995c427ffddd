package filestoretest

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

type file struct {
	disk     *Disk
	node     *node
	name     string
	writable bool
	closed   bool // under the disk's lock
}

// do runs an operation on the open file.
func (f *file) do(kind Kind, off int64, size int, fn func(fault error) error) error {
	return f.disk.do(kind, f.name, off, size, func(fault error) error {
		switch {
		case f.closed:
			return fs.ErrClosed
		case !f.writable && (kind == OpWrite || kind == OpTruncate):
			return syscall.EBADF
		}
		return fn(fault)
	})
}

func (f *file) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.do(OpRead, off, len(b), func(fault error) error {
		if fault != nil {
			return fault
		}
		if n = f.node.file.read(b, off); n < len(b) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *file) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.do(OpWrite, off, len(b), func(fault error) error {
		n = len(b)
		if fault != nil {
			n = 0
		}
		if short, ok := errors.AsType[*Short](fault); ok {
			n, fault = min(max(short.N, 0), len(b)), short.Err
		}
		f.node.file.write(b[:n], off)
		return fault
	})
	return n, err
}

func (f *file) Size() (size int64, err error) {
	err = f.do(OpSize, 0, 0, func(fault error) error {
		size = f.node.file.size
		return fault
	})
	return size, err
}

func (f *file) Truncate(size int64) error {
	return f.do(OpTruncate, size, 0, func(fault error) error {
		if fault == nil {
			if size < f.node.file.size {
				f.disk.keep(f.name, f.node)
			}
			f.node.file.truncate(size)
		}
		return fault
	})
}

func (f *file) Datasync() error {
	return f.do(OpDatasync, 0, 0, func(fault error) error {
		if fault != nil {
			f.node.file.failForce()
		} else {
			f.node.file.force()
		}
		return fault
	})
}

// Reread drops what a failed fsync left in memory.
func (f *file) Reread() error {
	return f.do(OpReread, 0, 0, func(fault error) error {
		if fault == nil {
			f.node.file.reread()
		}
		return fault
	})
}

func (f *file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return nil
}
