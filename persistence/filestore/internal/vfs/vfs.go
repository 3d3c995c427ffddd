// Package vfs is the file system that the file store needs: few operations, each of which a test
// can make fail and a simulated disk can replay. Files are created with mode 0600 and folders with
// 0700, regardless of the umask; the last element of a name is never followed as a symbolic link.
//
// A write is durable only after both Datasync of its file and SyncDir of the folder that names it
// have returned nil. An implementation is safe for concurrent use.
package vfs

import (
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// FS opens and names files. Errors wrap those of io/fs and syscall.
type FS interface {
	// OpenFile takes the flags of package os.
	OpenFile(name string, flag int) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	// Mkdir fails with fs.ErrExist if the name exists.
	Mkdir(name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
	SyncDir(name string) error
	Lstat(name string) (fs.FileInfo, error)
	// TryLock takes the lock of a file at once or reports false. The lock ends with the process or with unlock,
	// whichever is first.
	TryLock(name string) (unlock func() error, ok bool, err error)
}

// File is an open file without a position.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Datasync makes the contents and the size durable.
	Datasync() error
	// Reread drops clean contents from memory, so that reading returns what is on the disk. After a
	// Datasync that failed the two may differ.
	Reread() error
}

const (
	fileMode = 0o600
	dirMode  = 0o700
)

// OS is the file system of the machine.
type OS struct{}

// OpenFile implements FS.
func (OS) OpenFile(name string, flag int) (File, error) {
	plain := flag &^ (os.O_CREATE | os.O_EXCL)
	if flag&os.O_EXCL == 0 {
		f, err := os.OpenFile(name, plain|syscall.O_NOFOLLOW, 0)
		if err == nil {
			return osFile{f}, nil
		}
		if flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, err
	}
	if flag&os.O_CREATE != 0 {
		if err := f.Chmod(fileMode); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return osFile{f}, nil
}

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements FS.
func (OS) Remove(name string) error { return os.Remove(name) }

// Mkdir implements FS.
func (OS) Mkdir(name string) error {
	if err := os.Mkdir(name, dirMode); err != nil {
		return err
	}
	return os.Chmod(name, dirMode)
}

// ReadDir implements FS.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// SyncDir implements FS.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Lstat implements FS.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// TryLock implements FS.
func (OS) TryLock(name string) (unlock func() error, ok bool, err error) {
	lock := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW), flock.SetPermissions(fileMode))
	ok, err = lock.TryLock()
	if err != nil || !ok {
		return nil, false, errors.Join(err, lock.Close())
	}
	if err := os.Chmod(name, fileMode); err != nil {
		return nil, false, errors.Join(err, lock.Close())
	}
	return lock.Close, true, nil
}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Window is how much of a file is read or written at once.
const Window = 256 << 10

// ReadFull reads exactly len(b) bytes.
func ReadFull(file io.ReaderAt, b []byte, off int64) error {
	n, err := file.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteFull writes all of b.
func WriteFull(f File, b []byte, off int64) error {
	n, err := f.WriteAt(b, off)
	if err == nil && n < len(b) {
		return io.ErrShortWrite
	}
	return err
}

// Pad fills a file from end, where its contents end, to the next multiple of the length of padding,
// which it returns. Writing over padding changes contents only: the fsync need not write the size and
// the blocks of the file, and takes half the time.
func Pad(f File, padding []byte, end int64) (int64, error) {
	piece := int64(len(padding))
	n := piece - end%piece
	return end + n, WriteFull(f, padding[:n], end)
}

// Copy copies n bytes of a file and returns their checksum.
func Copy(to io.Writer, from io.ReaderAt, off, n int64) (uint32, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	done, err := io.Copy(io.MultiWriter(sum, to), io.NewSectionReader(from, off, n))
	if err == nil && done < n {
		err = io.ErrUnexpectedEOF
	}
	return sum.Sum32(), err
}

// Writer writes a file from the start. The last call must be Flush.
type Writer struct {
	file File
	buf  []byte
	off  int64
}

// NewWriter makes a writer of an empty file.
func NewWriter(file File) *Writer { return &Writer{file: file} }

// Write implements [io.Writer].
func (w *Writer) Write(b []byte) (int, error) {
	w.buf = append(w.buf, b...)
	if len(w.buf) < Window {
		return len(b), nil
	}
	return len(b), w.Flush()
}

// Flush writes what Write has buffered.
func (w *Writer) Flush() error {
	if err := WriteFull(w.file, w.buf, w.off); err != nil {
		return err
	}
	w.off += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// Size is how much was written.
func (w *Writer) Size() int64 { return w.off + int64(len(w.buf)) }
