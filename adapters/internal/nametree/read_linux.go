package nametree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// reader reads folders. It must be used by one goroutine only.
type reader struct {
	root   string
	buf    []byte
	uid    uint32
	groups []int
}

// listing is the content of a folder: the number of names, and the entries that are folders or
// match.
type listing struct {
	names int
	found []entry
}

func newReader(root string) *reader {
	groups, err := os.Getgroups()
	if err != nil {
		groups = nil // then permissions of groups are ignored
	}
	return &reader{root: root, buf: make([]byte, 64<<10), uid: uint32(os.Geteuid()), groups: append(groups, os.Getegid())} //nolint:gosec // an id
}

// longPath is the maximum length of a path for a single system call.
const longPath = 4000

// stamp returns the current stamp of a folder.
func (r *reader) stamp(path string) (stamp, error) {
	var st unix.Stat_t
	if len(path) < longPath {
		if err := unix.Fstatat(unix.AT_FDCWD, path, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return stamp{}, err
		}
	} else {
		fd, err := openFolder(path)
		if err != nil {
			return stamp{}, err
		}
		defer func() { _ = unix.Close(fd) }() // opened only for reading
		if err := unix.Fstat(fd, &st); err != nil {
			return stamp{}, err
		}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return stamp{}, unix.ENOTDIR
	}
	return r.stampOf(&st), nil
}

func (r *reader) stampOf(st *unix.Stat_t) stamp {
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, //nolint:unconvert // the types differ between machines
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), barred: r.barred(st),
	}
}

// barred reports whether a folder's permissions exclude processes without power over the files of
// others. Programs in a sandbox are such processes, even if the host has that power.
func (r *reader) barred(st *unix.Stat_t) bool {
	const search = 0o1
	switch {
	case st.Uid == r.uid:
		return st.Mode>>6&search == 0
	case slices.Contains(r.groups, int(st.Gid)):
		return st.Mode>>3&search == 0
	default:
		return st.Mode&search == 0
	}
}

// openFolder opens a folder with a path of any length. Its base name must not be a link.
func openFolder(path string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	at, how := unix.AT_FDCWD, flags
	for {
		part, rest := path, ""
		if len(path) >= longPath {
			n := strings.LastIndexByte(path[:longPath], '/')
			part, rest = path[:n], path[n+1:]
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, how, 0) })
		if at != unix.AT_FDCWD {
			_ = unix.Close(at) // opened only for reading
		}
		if err != nil || rest == "" {
			return fd, err
		}
		at, path = fd, rest
	}
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// read lists a folder. at is the folder's stamp from before.
func (r *reader) read(path string, kind func(string) Kind) (list listing, at stamp, err error) {
	fd, err := openFolder(path)
	if err != nil {
		return listing{}, stamp{}, err
	}
	defer func() { _ = unix.Close(fd) }() // opened only for reading
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return listing{}, stamp{}, err
	}
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, r.buf) })
		if err != nil {
			return listing{}, stamp{}, err
		}
		if n <= 0 {
			return list, r.stampOf(&st), nil
		}
		if err := list.take(fd, r.buf[:n], kind); err != nil {
			return listing{}, stamp{}, err
		}
	}
}

// Offsets of the fields of a directory entry of the kernel.
const (
	lengthAt = 16
	typeAt   = 18
	nameAt   = 19
)

// take reads directory entries of the kernel.
func (l *listing) take(fd int, buf []byte, kind func(string) Kind) error {
	for len(buf) > nameAt {
		size := int(binary.NativeEndian.Uint16(buf[lengthAt:]))
		if size <= nameAt || size > len(buf) {
			return unix.EIO
		}
		what, raw := buf[typeAt], buf[nameAt:size]
		buf = buf[size:]
		raw = raw[:max(0, bytes.IndexByte(raw, 0))]
		if len(raw) == 0 || raw[0] == '.' && (len(raw) == 1 || len(raw) == 2 && raw[1] == '.') {
			continue
		}
		l.names++
		name := string(raw)
		k := kind(name)
		if k == 0 && what != unix.DT_DIR && what != unix.DT_UNKNOWN {
			continue
		}
		e := entry{name: name, kind: k, dir: what == unix.DT_DIR, link: what == unix.DT_LNK}
		if what == unix.DT_UNKNOWN {
			var st unix.Stat_t
			if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil && !gone(err) {
				return err
			}
			e.dir, e.link = st.Mode&unix.S_IFMT == unix.S_IFDIR, st.Mode&unix.S_IFMT == unix.S_IFLNK
		}
		if k != 0 || e.dir {
			l.found = append(l.found, e)
		}
	}
	return nil
}

// gone reports whether a folder no longer exists, or has become something else.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

func denied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }
