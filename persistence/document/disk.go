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
	// tempSuffix ends the name of a file until it is renamed to its place.
	tempSuffix = ".new"
)

// Step is one operation on the disk.
type Step string

// The steps of a change.
const (
	StepMakeDir Step = "make folder"
	StepOpen    Step = "open"
	StepWrite   Step = "write"
	StepSync    Step = "fsync"
	StepRename  Step = "rename"
	StepRemove  Step = "remove"
	StepSyncDir Step = "fsync folder"
)

// Disk is the file system of the machine; the zero value is ready.
type Disk struct {
	// Fault is called before each step, in tests: an error replaces the step.
	Fault func(step Step, path string) error
}

// Do runs one step of a store that writes its files itself.
func (d Disk) Do(step Step, path string, work func() error) error {
	if d.Fault != nil {
		if err := d.Fault(step, path); err != nil {
			return &fs.PathError{Op: string(step), Path: path, Err: err}
		}
	}
	return work()
}

// Write replaces the content of a file, and makes its folder if necessary.
func (d Disk) Write(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := d.MakeDir(dir); err != nil {
		return err
	}
	if err := d.replace(path, content); err != nil {
		_ = os.Remove(path + tempSuffix) // Otherwise it uses space until the next write.
		return err
	}
	return d.SyncDir(dir)
}

// replace writes a temporary file and renames it. The name is not durable yet.
func (d Disk) replace(path string, content []byte) error {
	var f *os.File
	err := d.Do(StepOpen, path, func() (err error) {
		f, err = os.OpenFile(path+tempSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, fileMode)
		return err
	})
	if err != nil {
		return err
	}
	err = d.Do(StepWrite, path, func() error {
		_, err := f.Write(content)
		return errors.Join(err, f.Chmod(fileMode)) // Regardless of the umask and of an old temporary file.
	})
	if err == nil {
		err = d.Do(StepSync, path, f.Sync)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.Do(StepRename, path, func() error { return os.Rename(path+tempSuffix, path) })
}

// Remove removes a file, durably, with what a killed process wrote of its next content. The removal of a missing file is
// fsynced too, because an earlier removal may not be durable yet.
func (d Disk) Remove(path string) error {
	err := d.Do(StepRemove, path, func() error {
		if err := os.Remove(path + tempSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Remove(path)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.SyncDir(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MakeDir makes a folder and its parents, durably.
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
		return os.Chmod(dir, dirMode) // Regardless of the umask.
	})
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return &fs.PathError{Op: string(StepMakeDir), Path: dir, Err: syscall.ENOTDIR}
		}
		err = nil // Another process made it meanwhile, and may not have fsynced its name yet.
	}
	if err != nil {
		return err
	}
	if err := d.SyncDir(above); err != nil {
		_ = os.Remove(dir) // The next call makes it again and fsyncs its name.
		return err
	}
	return nil
}

// SyncDir makes the names in a folder durable.
func (d Disk) SyncDir(dir string) error {
	return d.Do(StepSyncDir, dir, func() error {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// OpenLines opens a file of lines to append to, and makes its folder if necessary. If a crash or a full disk has cut the
// last line, the next one does not continue it. Nothing is fsynced.
func OpenLines(path string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_APPEND
	f, err := os.OpenFile(path, flags, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), dirMode); err == nil {
			f, err = os.OpenFile(path, flags, fileMode)
		}
	}
	if err != nil {
		return nil, err
	}
	last := []byte{'\n'}
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 0 {
		_, _ = f.ReadAt(last, end-1) // If it cannot be read, the line counts as complete.
	}
	if last[0] != '\n' {
		if _, err := f.Write([]byte{'\n'}); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// ErrTooLong is wrapped by errors of files that are longer than the caller allows.
var ErrTooLong = errors.New("the file is too long")

var errNoFile = errors.New("it is not a plain file")

// Read returns the content of a file, or nil if it is missing. A file that is longer than most, or
// not a regular file, is an error and is not read.
func Read(path string, most int64) ([]byte, error) {
	return read(path, most, 0, func(fs.FileInfo) error { return nil })
}

// ReadOwn is [Read] for a file that is trusted only if no one but its owner could write it. It
// follows no symbolic link ([syscall.ELOOP]). check gets the open file; its error is returned with
// the path.
func ReadOwn(path string, most int64, check func(fs.FileInfo) error) ([]byte, error) {
	return read(path, most, syscall.O_NOFOLLOW, check)
}

func read(path string, most int64, flags int, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0) // A pipe would block.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // It was only read.
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	err = check(info)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errNoFile
	case info.Size() > most:
		err = ErrTooLong
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLong}
	}
	return content, err
}
