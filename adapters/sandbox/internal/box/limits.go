//go:build linux

package box

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// withDefaults are limits with a bound for everything.
func withDefaults(l sandbox.Limits) sandbox.Limits {
	return sandbox.Limits{
		Wall: cmp.Or(l.Wall, 10*time.Minute), CPU: cmp.Or(l.CPU, 5*time.Minute), Memory: cmp.Or(l.Memory, 2<<30),
		FileSize: cmp.Or(l.FileSize, 1<<30), Processes: cmp.Or(l.Processes, 256), OpenFiles: cmp.Or(l.OpenFiles, 1024),
	}
}

// limit is one of the kernel's limits of a process.
type limit struct {
	name       string
	what       int
	soft, hard uint64
}

// setLimits bounds a process that runs nothing of the program's yet, and so all
// that it begins. inGroup says that a control group bounds the memory, ownUsers
// that the program has a user namespace.
func setLimits(pid int, l sandbox.Limits, inGroup, ownUsers bool) error {
	seconds := uint64(math.Ceil(l.CPU.Seconds()))
	set := []limit{
		{"CPU time", unix.RLIMIT_CPU, seconds, seconds + 1}, // SIGXCPU first, which names the limit
		{"file size", unix.RLIMIT_FSIZE, uint64(l.FileSize), uint64(l.FileSize)},
		{"open files", unix.RLIMIT_NOFILE, uint64(l.OpenFiles), uint64(l.OpenFiles)},
		{"core dumps", unix.RLIMIT_CORE, 0, 0},
		{"locked memory", unix.RLIMIT_MEMLOCK, 64 << 10, 64 << 10},
	}
	if ownUsers {
		// Counted in the program's own user namespace; void for root.
		set = append(set, limit{"processes", unix.RLIMIT_NPROC, uint64(l.Processes + ownProcesses), uint64(l.Processes + ownProcesses)})
	}
	if !inGroup {
		// Of each process, and without what it only reserves: the best bound there is
		// without a control group.
		memory := uint64(max(l.Memory, 64<<20))
		set = append(set, limit{"memory", unix.RLIMIT_DATA, memory, memory})
	}
	for _, s := range set {
		if err := prlimit(pid, s.what, s.soft, s.hard); err != nil {
			return fmt.Errorf("bound the program's %s: %w", s.name, err)
		}
	}
	return nil
}

// prlimit sets a limit, or leaves it where the host's own hard limit is lower.
func prlimit(pid, what int, soft, hard uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, what, nil, &old); err != nil {
		return err
	}
	hard = min(hard, old.Max)
	return unix.Prlimit(pid, what, &unix.Rlimit{Cur: min(soft, hard), Max: hard}, nil)
}
