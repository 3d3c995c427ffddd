//go:build linux

package hold

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notice is the kernel's struct seccomp_notif.
type notice struct {
	ID    uint64
	Pid   uint32 // of the thread
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// answer is the kernel's struct seccomp_notif_resp.
type answer struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// loop answers calls until no process is left that could make any.
func (g *Guard) loop() {
	defer close(g.done)
	for {
		set := []unix.PollFd{{Fd: int32(g.listener), Events: unix.POLLIN}} //nolint:gosec // a descriptor
		_, err := unix.Poll(set, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || set[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 && set[0].Revents&unix.POLLIN == 0:
			return
		}
		var n notice
		if g.control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != nil { //nolint:gosec // the system call wants an address
			continue // the caller has ended
		}
		g.decide(&n)
	}
}

func (g *Guard) control(what uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(g.listener), what, uintptr(arg)); errno != 0 { //nolint:gosec // a descriptor
		return errno
	}
	return nil
}

// goOn lets a call continue unchanged.
func (g *Guard) goOn(n *notice) {
	a := answer{ID: n.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	_ = g.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) //nolint:gosec // as above; who asked may be gone
}

func (g *Guard) fail(n *notice, errno unix.Errno) {
	a := answer{ID: n.ID, Error: -int32(errno)}                      //nolint:gosec // a small number
	_ = g.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) //nolint:gosec // as above; who asked may be gone
}

// valid reports whether the caller still waits, so that its thread id was not reused.
func (g *Guard) valid(n *notice) bool {
	id := n.ID
	return g.control(notifIDValid, unsafe.Pointer(&id)) == nil //nolint:gosec // as above
}

// decide answers one call. A call that may find a pinned name is answered by its own goroutine, which traces it to
// its end.
func (g *Guard) decide(n *notice) {
	c, ok := find(n.Arch, n.Nr)
	if !ok { // Unreachable: the filter passes no others
		g.fail(n, unix.ENOSYS)
		return
	}
	name, err := readName(int(n.Pid), n.Args[c.path])
	switch {
	case errors.Is(err, unix.EFAULT) || errors.Is(err, unix.ENAMETOOLONG):
		g.fail(n, errnoOf(err))
		return
	case errors.Is(err, unix.ESRCH):
		return // it has ended
	case err != nil: // the host may not read its memory, so nothing of it runs
		g.fail(n, unix.EPERM)
		return
	}
	g.step(StepAsked, name)
	found := g.look(n, c, name)
	if !g.intact() {
		g.lose() // it waits until it is killed
		return
	}
	if !found {
		g.step(StepAnswered, name)
		g.goOn(n)
		return
	}
	g.held.Go(func() { g.hold(n, name) })
}

func errnoOf(err error) unix.Errno {
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno
	}
	return unix.EIO
}

// readName reads a path from a thread's memory.
func readName(tid int, at uint64) (string, error) {
	const page = 4096
	var out []byte
	for len(out) < unix.PathMax {
		size := page - int(at%page) //nolint:gosec // below a page
		buf := make([]byte, size)
		local := []unix.Iovec{{Base: &buf[0]}}
		local[0].SetLen(size)
		n, err := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: size}}, 0)
		if err != nil {
			return "", fmt.Errorf("read a name: %w", err)
		}
		end := bytes.IndexByte(buf[:n], 0)
		if end >= 0 && len(out)+end < unix.PathMax {
			return string(append(out, buf[:end]...)), nil
		}
		out = append(out, buf[:n]...)
		at += uint64(n) //nolint:gosec // below a page
	}
	return "", fmt.Errorf("read a name: %w", unix.ENAMETOOLONG)
}
