//go:build !linux

package nametree

import (
	"errors"
	"io/fs"
	"os"
)

// reader reads folders. These systems have no sandbox, so only tests use it: it is slow, and never
// trusts the times of a folder.
type reader struct{}

// listing is the content of a folder: the number of names, and the entries that are folders or
// match.
type listing struct {
	names int
	found []entry
}

func newReader(string) *reader { return &reader{} }

func (r *reader) stamp(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return stamp{}, err
	}
	return stamp{mtime: info.ModTime().UnixNano() + int64(settled)}, nil
}

func (r *reader) read(path string, kind func(string) Kind) (list listing, at stamp, err error) {
	at, err = r.stamp(path)
	if err != nil {
		return list, at, err
	}
	at.mtime = 1<<63 - 1 // never old enough
	entries, err := os.ReadDir(path)
	list.names = len(entries)
	for _, e := range entries {
		if k := kind(e.Name()); k != 0 || e.IsDir() {
			list.found = append(list.found, entry{name: e.Name(), kind: k, dir: e.IsDir(), link: e.Type()&fs.ModeSymlink != 0})
		}
	}
	return list, at, err
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func denied(err error) bool { return errors.Is(err, fs.ErrPermission) }
