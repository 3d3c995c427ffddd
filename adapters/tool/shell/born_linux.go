package shell

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// bornSince reports whether a folder, or one of its parents below a root, was created after a time. File systems that
// do not record creation times report false.
func bornSince(dir, root string, since time.Time) bool {
	for ; dir != root && inside(dir, root); dir = filepath.Dir(dir) {
		var st unix.Statx_t
		if err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
			continue
		}
		if time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)).After(since) {
			return true
		}
	}
	return false
}
