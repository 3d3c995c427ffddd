//go:build linux

package box

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ABI is the kernel's version of Landlock, or 0 without Landlock.
func ABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v) //nolint:gosec // a small number
}

// scopedSince is the Landlock version that isolates signals and abstract sockets.
const scopedSince = 6

// niceness gives a process about a third of the normal CPU share, if the kernel does not share by sessions.
const niceness = 5

// startScoped starts a process from a thread that can send signals and connect to abstract sockets only of its own
// children, and keeps that thread until ended is closed. The thread is the parent of the process: when it ends, also
// by a crash of the host, the kernel kills the process. With nice, the process gets a smaller CPU share, as a
// substitute for a control group.
func startScoped(cmd *exec.Cmd, abi int, nice bool, ended <-chan struct{}) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		if nice {
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness) // of this thread and its children; it may be lower already
		}
		err := scopeThread(abi)
		if err == nil {
			err = KeepFiles(3)
		}
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			<-ended
		}
	}()
	return <-started
}

// KeepFiles closes open files on exec, because this process may have inherited some from its parent.
func KeepFiles(from uint) error {
	return os.NewSyscallError("close_range", unix.CloseRange(from, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC))
}

func scopeThread(abi int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if abi < scopedSince {
		return nil
	}
	fd, err := CreateRuleset(unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // the kernel keeps its own reference
	return RestrictThread(fd)
}

// CreateRuleset makes a Landlock ruleset.
func CreateRuleset(attr unix.LandlockRulesetAttr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // the system call wants an address
	if errno != 0 {
		return -1, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return int(fd), nil //nolint:gosec // a descriptor
}

// AllowPath adds a rule that allows access below an open path.
func AllowPath(ruleset, fd int, access uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}                                                                          //nolint:gosec // a descriptor
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(packed(attr))), 0, 0, 0) //nolint:gosec // the system call wants an address
	if errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}

// packed is the kernel's layout, which has no padding.
func packed(attr unix.LandlockPathBeneathAttr) *[12]byte {
	var out [12]byte
	*(*uint64)(unsafe.Pointer(&out)) = attr.Allowed_access //nolint:gosec // the array is as long
	*(*int32)(unsafe.Pointer(&out[8])) = attr.Parent_fd    //nolint:gosec // the array is as long
	return &out
}

// RestrictThread applies a ruleset to the calling thread and its children.
func RestrictThread(ruleset int) error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 { //nolint:gosec // a descriptor
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}
