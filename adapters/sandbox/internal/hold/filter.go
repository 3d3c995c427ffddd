//go:build linux

package hold

import (
	"errors"
	"fmt"
	"os"
	"slices"
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
	// keys are the calls for the kernel's keys, socket is the one that makes sockets, and sockets are those that make
	// them in a way that a filter cannot see.
	keys    []uint32
	socket  uint32
	sockets []uint32
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

const nrAt, archAt, firstAt = 0, 4, 16 // in struct seccomp_data

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func ret(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }

// when skips the following instructions unless the loaded value is k.
func when(k uint32, skip int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: uint8(skip)} //nolint:gosec // the lists are short
}

// answers returns v for each of the values.
func answers(v uint32, values ...uint32) (out []unix.SockFilter) {
	for _, k := range values {
		out = append(out, when(k, 1), ret(v))
	}
	return out
}

// program is a seccomp filter: what it does about the numbers of each architecture.
func program(about func(t table) []unix.SockFilter) []unix.SockFilter {
	out := []unix.SockFilter{load(archAt)}
	for _, t := range tables() {
		body := append([]unix.SockFilter{load(nrAt)}, about(t)...)
		if t.limit > 0 {
			body = append(body, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: t.limit, Jf: 1}, ret(retNone))
		}
		body = append(body, ret(unix.SECCOMP_RET_ALLOW))
		out = append(append(out, when(t.arch, len(body))), body...)
	}
	return append(out, ret(retNone)) // programs of other architectures do not run
}

// pinned is the filter of programs with pins.
func pinned(t table) []unix.SockFilter {
	var out []unix.SockFilter
	for _, c := range t.calls {
		out = append(out, answers(unix.SECCOMP_RET_USER_NOTIF, c.nr)...)
	}
	return slices.Concat(out, answers(retNone, t.none...), answers(retNever, t.never...))
}

// Apart is a filter for what no namespace separates: the kernel's keys, which all processes of a user share, and,
// without the network, sockets other than those of the network's namespace, such as those between a virtual machine and
// its host. Without them there is no io_uring, which makes sockets without system calls. The filter is empty for
// processors whose system calls are not known.
func Apart(network bool) []unix.SockFilter {
	if len(tables()) == 0 {
		return nil
	}
	return program(func(t table) []unix.SockFilter {
		out := answers(retNone, t.keys...)
		if network {
			return out
		}
		families := append([]unix.SockFilter{load(firstAt)}, answers(unix.SECCOMP_RET_ALLOW, unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)...)
		families = append(families, ret(unix.SECCOMP_RET_ERRNO|uint32(unix.EAFNOSUPPORT)))
		return slices.Concat(out, answers(retNone, t.none...), answers(retNone, t.sockets...), []unix.SockFilter{when(t.socket, len(families))}, families)
	})
}

// SetApart applies that filter to the calling thread, which must not be able to get privileges, and its children.
func SetApart(network bool) error {
	if filter := Apart(network); len(filter) > 0 {
		_, err := apply(filter, 0)
		return err
	}
	return nil
}

// apply applies a filter to the calling thread and its children.
func apply(filter []unix.SockFilter, flags uintptr) (int, error) {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}                                                //nolint:gosec // the lists are short
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // the system call wants an address
	if errno != 0 {
		return -1, os.NewSyscallError("seccomp", errno)
	}
	return int(fd), nil //nolint:gosec // a descriptor
}

// install applies the filter of pins to the calling thread and its children.
func install() (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, os.NewSyscallError("prctl", err)
	}
	return apply(program(pinned), wantFlags)
}
