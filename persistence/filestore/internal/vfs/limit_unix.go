//go:build unix

package vfs

import "syscall"

// OpenLimit is how many descriptors this process may have, or 0 if unknown.
func OpenLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	const most = 1 << 20
	return int(min(limit.Cur, most))
}
