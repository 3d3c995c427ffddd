//go:build linux

package hold

import "golang.org/x/sys/unix"

// auditArchI386 is the architecture of 32-bit programs.
const auditArchI386 = 0x40000003

// tables are the system calls that access files by name. io_uring opens files without system calls, so it is
// disabled.
func tables() []table {
	const openTreeAttr, x32 = 467, 0x40000000
	return []table{
		{
			arch: unix.AUDIT_ARCH_X86_64,
			calls: []call{
				{unix.SYS_OPENAT, 0, 1, false},
				{unix.SYS_OPEN, -1, 0, false},
				{unix.SYS_CREAT, -1, 0, false},
				{unix.SYS_OPENAT2, 0, 1, false},
				{unix.SYS_OPEN_TREE, 0, 1, false},
				{openTreeAttr, 0, 1, false},
				{unix.SYS_EXECVE, -1, 0, true},
				{unix.SYS_EXECVEAT, 0, 1, true},
			},
			none:  []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_USELIB},
			never: []uint32{unix.SYS_OPEN_BY_HANDLE_AT},
			limit: x32,
			keys:  []uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL}, socket: unix.SYS_SOCKET,
		},
		{
			arch: auditArchI386,
			calls: []call{
				{295, 0, 1, false}, {5, -1, 0, false}, {8, -1, 0, false}, {437, 0, 1, false}, // openat, open, creat, openat2
				{428, 0, 1, false}, {openTreeAttr, 0, 1, false}, {11, -1, 0, true}, {358, 0, 1, true}, // open_tree, execve, execveat
			},
			none:  []uint32{425, 86}, // io_uring_setup, uselib
			never: []uint32{342},     // open_by_handle_at
			keys:  []uint32{286, 287, 288}, socket: 359, sockets: []uint32{102},
		},
	}
}
