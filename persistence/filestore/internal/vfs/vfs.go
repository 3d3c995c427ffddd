// Package vfs is the file system that the file store needs: few operations, each of which a test
// can make fail and a simulated disk can replay. Files are created with mode 0600 and folders with
// 0700, regardless of the umask; the last element of a name is never followed as a symbolic link.
//
// A write is durable only after both Datasync of its file and SyncDir of the folder that names it
// have returned nil. An implementation is safe for concurrent use.
package vfs

import (
	"io"
	"io/fs"
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

// Locker is a file system that can lock out other processes.
type Locker interface {
	// TryLock takes the lock of a file at once or reports false. The lock ends
	// with the process or with unlock, whichever is first.
	TryLock(name string) (unlock func() error, ok bool, err error)
}
