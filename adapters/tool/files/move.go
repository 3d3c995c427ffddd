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
	a, err := from.Open(".")
	if err != nil {
		return cause(err)
	}
	b, err := to.Open(".")
	if err != nil {
		return errors.Join(cause(err), a.Close())
	}
	return errors.Join(unix.Renameat(int(a.Fd()), temp, int(b.Fd()), name), a.Close(), b.Close()) //nolint:gosec // descriptors
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
