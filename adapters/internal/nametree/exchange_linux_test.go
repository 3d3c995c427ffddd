package nametree_test

import "golang.org/x/sys/unix"

// exchange gives two folders each other's names. One may be inside the other, and then nothing changes.
func exchange(a, b string) {
	_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
