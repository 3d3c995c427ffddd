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

// withDefaults replaces missing limits by defaults.
func withDefaults(l sandbox.Limits) sandbox.Limits {
	return sandbox.Limits{
		Wall: cmp.Or(l.Wall, 10*time.Minute), CPU: cmp.Or(l.CPU, 5*time.Minute), Memory: cmp.Or(l.Memory, 2<<30),
		FileSize: cmp.Or(l.FileSize, 1<<30), Processes: cmp.Or(l.Processes, 256), OpenFiles: cmp.Or(l.OpenFiles, 1024),
	}
}

// limit is one of the kernel's resource limits.
type limit struct {
	name       string
	what       int
	soft, hard uint64
}

// setLimits limits a process that does not run anything of the program yet, and thereby all its children. inGroup
// says that a control group limits the memory, ownUsers that the program has a user namespace.
func setLimits(pid int, l sandbox.Limits, inGroup, ownUsers bool) error {
	seconds := uint64(math.Ceil(l.CPU.Seconds()))
	set := []limit{
		{"CPU time", unix.RLIMIT_CPU, seconds, seconds + 1}, // SIGXCPU comes first and identifies the limit
		{"file size", unix.RLIMIT_FSIZE, uint64(l.FileSize), uint64(l.FileSize)},
		{"open files", unix.RLIMIT_NOFILE, uint64(l.OpenFiles), uint64(l.OpenFiles)},
		{"core dumps", unix.RLIMIT_CORE, 0, 0},
		{"locked memory", unix.RLIMIT_MEMLOCK, 64 << 10, 64 << 10},
	}
	if ownUsers {
		// Counted per user namespace of the program; has no effect for root.
		set = append(set, limit{"processes", unix.RLIMIT_NPROC, uint64(l.Processes + ownProcesses), uint64(l.Processes + ownProcesses)})
	}
	if !inGroup {
		// Per process, and without memory that is only reserved: the best available limit without a control group.
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

// prlimit sets a limit, or keeps the host's own hard limit if that is lower.
func prlimit(pid, what int, soft, hard uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, what, nil, &old); err != nil {
		return err
	}
	hard = min(hard, old.Max)
	return unix.Prlimit(pid, what, &unix.Rlimit{Cur: min(soft, hard), Max: hard}, nil)
}
