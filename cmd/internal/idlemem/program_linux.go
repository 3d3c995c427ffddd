package idlemem

import (
	"os"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// releaseProgram gives back the pages of the program's own file, most of which only the start needs. They stay in the
// cache of the system, from which those in use are mapped again at once, but it may use their memory for something
// else. Where the system does not allow it, nothing changes.
func releaseProgram() {
	self, err := procfs.Self()
	if err != nil {
		return
	}
	maps, err := self.ProcMaps()
	if err != nil {
		return
	}
	file, err := os.Executable()
	if err != nil {
		return
	}
	for _, m := range maps {
		if m.Pathname == file && !m.Perms.Write { // what cannot be written is the same in the file
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.StartAddr, m.EndAddr-m.StartAddr, unix.MADV_DONTNEED)
		}
	}
}
