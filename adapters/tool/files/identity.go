package files

import (
	"io/fs"
	"syscall"
)

// identify returns a file's identity and its number of hard links.
func identify(info fs.FileInfo) (id identity, count uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, 0, false
	}
	return identity{uint64(s.Dev), uint64(s.Ino)}, uint64(s.Nlink), true
}
