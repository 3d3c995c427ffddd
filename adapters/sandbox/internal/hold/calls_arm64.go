//go:build linux

package hold

import "golang.org/x/sys/unix"

// tables are the system calls that access files by name. io_uring opens files without system calls, so it is
// disabled.
func tables() []table {
	const openTreeAttr = 467
	return []table{{
		arch: unix.AUDIT_ARCH_AARCH64,
		calls: []call{
			{unix.SYS_OPENAT, 0, 1, false},
			{unix.SYS_OPENAT2, 0, 1, false},
			{unix.SYS_OPEN_TREE, 0, 1, false},
			{openTreeAttr, 0, 1, false},
			{unix.SYS_EXECVE, -1, 0, true},
			{unix.SYS_EXECVEAT, 0, 1, true},
		},
		none:  []uint32{unix.SYS_IO_URING_SETUP},
		never: []uint32{unix.SYS_OPEN_BY_HANDLE_AT},
		keys:  []uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL}, socket: unix.SYS_SOCKET,
	}}
}
