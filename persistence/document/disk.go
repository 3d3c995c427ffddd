// Package document replaces small files as a whole, for stores that keep what they
// hold in files of their own.
//
// Promises: a nil error means durable, the names of folders that had to be made
// included; after a crash or an error the old or the new content is there, whole, and
// nothing else but what the next write replaces. Files are 0600 in folders 0700,
// whatever the umask. One caller writes a file at a time; different files may be
// written at once.
package document

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	fileMode = 0o600
	dirMode  = 0o700
	// fresh ends the name of a file that is not at its place yet.
	fresh = ".new"
)

// Step is one thing that is done to the disk.
type Step string

// The steps of a change.
const (
	StepMakeDir Step = "make folder"
	StepOpen    Step = "open"
	StepWrite   Step = "write"
	StepForce   Step = "force"
	StepRename  Step = "rename"
	StepRemove  Step = "remove"
	StepSyncDir Step = "force folder"
)

// Disk is where files are. The zero value is the machine's.
type Disk struct {
	// Fault is asked before each step, in tests: what it returns is what comes of the step.
	Fault func(step Step, path string) error
}

// Do does one step of a store's own.
func (d Disk) Do(step Step, path string, work func() error) error {
	if d.Fault != nil {
		if err := d.Fault(step, path); err != nil {
			return &fs.PathError{Op: string(step), Path: path, Err: err}
		}
	}
	return work()
}

// Write puts content in the place of a file, and makes its folder if need be.
func (d Disk) Write(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := d.MakeDir(dir); err != nil {
		return err
	}
	if err := d.place(path, content); err != nil {
		_ = os.Remove(path + fresh) // it takes up space until the next write at most
		return err
	}
	return d.SyncDir(dir)
}

// place writes a file beside its place and renames it.
func (d Disk) place(path string, content []byte) error {
	var f *os.File
	err := d.Do(StepOpen, path, func() (err error) {
		f, err = os.OpenFile(path+fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, fileMode)
		return err
	})
	if err != nil {
		return err
	}
	err = d.Do(StepWrite, path, func() error {
		_, err := f.Write(content)
		return errors.Join(err, f.Chmod(fileMode)) // whatever the umask, and who made what lay there
	})
	if err == nil {
		err = d.Do(StepForce, path, f.Sync)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.Do(StepRename, path, func() error { return os.Rename(path+fresh, path) })
}

// Remove removes a file. That one is not there already may not be durable yet.
func (d Disk) Remove(path string) error {
	err := d.Do(StepRemove, path, func() error { return os.Remove(path) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.SyncDir(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MakeDir makes a folder and those above it, and forces that they are there.
func (d Disk) MakeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := d.MakeDir(above); err != nil {
			return err
		}
	}
	err := d.Do(StepMakeDir, dir, func() error {
		if err := os.Mkdir(dir, dirMode); err != nil {
			return err
		}
		return os.Chmod(dir, dirMode) // whatever the umask
	})
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return &fs.PathError{Op: string(StepMakeDir), Path: dir, Err: syscall.ENOTDIR}
		}
		err = nil // somebody else was faster, and may not have forced it yet
	}
	if err != nil {
		return err
	}
	if err := d.SyncDir(above); err != nil {
		_ = os.Remove(dir) // the next one makes it, and forces it
		return err
	}
	return nil
}

// SyncDir forces the names in a folder.
func (d Disk) SyncDir(dir string) error {
	return d.Do(StepSyncDir, dir, func() error {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// ErrTooLong is wrapped by errors of files that are longer than they may be.
var ErrTooLong = errors.New("the file is too long")

// Read is the content of a file, nil if there is none. One that is longer than most,
// or no plain file, is an error, and costs no more than the look at it.
func Read(path string, most int64) ([]byte, error) {
	return read(path, most, 0, func(fs.FileInfo) error { return nil })
}

// ReadOwn is [Read] for a file that counts only if its owner alone could write it. It
// follows no symbolic link ([syscall.ELOOP]), and returns the error of check, which is
// called with the open file, wrapped with the path.
func ReadOwn(path string, most int64, check func(fs.FileInfo) error) ([]byte, error) {
	return read(path, most, syscall.O_NOFOLLOW, check)
}

func read(path string, most int64, flags int, check func(fs.FileInfo) error) ([]byte, error) {
	// A pipe would be waited for otherwise.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(info); err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNoFile}
	case info.Size() > most:
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLong}
	}
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrTooLong}
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

var errNoFile = errors.New("it is no plain file")
