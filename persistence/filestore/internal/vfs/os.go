package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

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

// TryLock implements Locker.
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
