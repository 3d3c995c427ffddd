//go:build linux

package jail

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
)

const (
	fileRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	fileWrite = fileRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	dirRead   = fileRead | unix.LANDLOCK_ACCESS_FS_READ_DIR
	dirWrite  = fileWrite | dirRead | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// all are all rights that the rules control; device files can never be created.
	all = dirWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// confine removes from the calling thread what the program must not have: capabilities, and by Landlock, as a second
// layer, access to files that are not granted.
func confine(c config) error {
	if err := rules(c); err != nil {
		return err
	}
	for cap := range 64 {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(cap), 0, 0, 0); err != nil { //nolint:gosec // a small number
			if errors.Is(err, unix.EINVAL) {
				break // the kernel has no more capabilities
			}
			return fmt.Errorf("drop powers: %w", err)
		}
	}
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop powers: %w", err)
	}
	return nil
}

// known are the rights that a version of Landlock controls.
func known(abi int) uint64 {
	out := uint64(all)
	if abi < 2 {
		out &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < 3 {
		out &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 5 {
		out &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return out
}

func rules(c config) error {
	handled := known(c.ABI)
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	if c.ABI >= scopedSince {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	set, err := box.CreateRuleset(attr)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(set) }() // the kernel keeps its own reference
	grants := []struct {
		path   string
		dir    bool
		access uint64
	}{
		{"/", true, dirRead},
		{"/dev", true, dirRead | fileWrite},
		{"/proc", true, dirRead | fileWrite},
		{"/tmp", true, dirWrite},
		{"/dev/shm", true, dirWrite},
	}
	for _, b := range slices.Concat(c.Plan.Binds, c.Plan.Own) {
		if !b.Writable {
			continue
		}
		access := uint64(dirWrite)
		if !b.Dir {
			access = fileWrite
		}
		grants = append(grants, struct {
			path   string
			dir    bool
			access uint64
		}{b.Dest, b.Dir, access})
	}
	for _, g := range grants {
		if err := allow(set, g.path, g.access&handled); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	return box.RestrictThread(set)
}

// scopedSince is the Landlock version that isolates signals and abstract sockets.
const scopedSince = 6

func allow(set int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it is inside of something hidden
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // it was only checked
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileWrite // a mask may have replaced it by a file
	}
	return box.AllowPath(set, fd, access)
}
