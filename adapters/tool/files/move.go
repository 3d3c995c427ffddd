package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// rename gives a file of one folder a name in another one, which replaces what has that name.
func rename(from, to *os.Root, temp, name string) error {
	return between(from, to, func(from, to int) error { return unix.Renameat(from, temp, to, name) })
}

// link gives a file of one folder one more name in another one, if the name is free.
func link(from, to *os.Root, temp, name string) error {
	return between(from, to, func(from, to int) error { return unix.Linkat(from, temp, to, name, 0) })
}

// between calls do with the descriptors of two folders.
func between(from, to *os.Root, do func(from, to int) error) error {
	a, err := from.Open(".")
	if err != nil {
		return cause(err)
	}
	b, err := to.Open(".")
	if err != nil {
		return errors.Join(cause(err), a.Close())
	}
	return errors.Join(do(int(a.Fd()), int(b.Fd())), a.Close(), b.Close()) //nolint:gosec // descriptors
}

// inherit gives a new file the group that files get in a folder. It does not matter if that is not permitted.
func inherit(f *os.File, dir *os.Root) {
	info, err := dir.Stat(".")
	if err != nil || info.Mode()&fs.ModeSetgid == 0 {
		return
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(-1, int(s.Gid)) // as above
	}
}
