//go:build linux

package hold

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrUnsupported is wrapped by errors on machines where pins cannot be enforced. Programs that need them are not run
// there.
var ErrUnsupported = errors.New("files that a command executes cannot be kept as they were checked")

// call is a system call with a path argument.
type call struct {
	nr        uint32
	dir, path int // indexes of its arguments; dir is -1 if it has none
	exec      bool
}

// table lists the system calls of an architecture that are passed to the host or refused.
type table struct {
	arch  uint32
	calls []call
	none  []uint32 // reported as not implemented; programs have fallbacks
	never []uint32 // not permitted, as without privileges
	limit uint32   // numbers from here on belong to another interface and are refused; 0 for none
}

// find finds a call by its number.
func find(arch uint32, nr int32) (call, bool) {
	for _, t := range tables() {
		if t.arch != arch {
			continue
		}
		for _, c := range t.calls {
			if int64(c.nr) == int64(nr) {
				return c, true
			}
		}
	}
	return call{}, false
}

const (
	wantFlags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	retNone   = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	retNever  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
)

// Available returns an error if this machine does not support pins.
func Available() error {
	if len(tables()) == 0 {
		return fmt.Errorf("%w: this processor's system calls are not known", ErrUnsupported)
	}
	// Without a program the kernel reports a bad address, unless it does not support the flags.
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, wantFlags, 0)
	if !errors.Is(errno, unix.EFAULT) {
		return fmt.Errorf("%w: that needs Linux 5.19 with seccomp, and a container that permits it (%w)", ErrUnsupported, errno)
	}
	return nil
}

// program is the seccomp filter: a list of numbers per architecture.
func program() []unix.SockFilter {
	const nrAt, archAt = 0, 4 // in struct seccomp_data
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	ret := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	// when skips the following instructions unless the number is k.
	when := func(k uint32, skip int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: uint8(skip)} //nolint:gosec // the lists are short
	}
	out := []unix.SockFilter{load(archAt)}
	for _, t := range tables() {
		body := []unix.SockFilter{load(nrAt)}
		add := func(nr, v uint32) { body = append(body, when(nr, 1), ret(v)) }
		for _, c := range t.calls {
			add(c.nr, unix.SECCOMP_RET_USER_NOTIF)
		}
		for _, nr := range t.none {
			add(nr, retNone)
		}
		for _, nr := range t.never {
			add(nr, retNever)
		}
		if t.limit > 0 {
			body = append(body, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: t.limit, Jf: 1}, ret(retNone))
		}
		body = append(body, ret(unix.SECCOMP_RET_ALLOW))
		out = append(append(out, when(t.arch, len(body))), body...)
	}
	return append(out, ret(retNone)) // programs of other architectures do not run
}

// install applies the filter to the calling thread and its children.
func install() (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, os.NewSyscallError("prctl", err)
	}
	filter := program()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}                                                    //nolint:gosec // the lists are short
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, wantFlags, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // the system call wants an address
	if errno != 0 {
		return -1, os.NewSyscallError("seccomp", errno)
	}
	return int(fd), nil //nolint:gosec // a descriptor
}
