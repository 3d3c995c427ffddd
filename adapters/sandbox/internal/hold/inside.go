//go:build linux

package hold

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// The words between the two: the first byte of what the one in the sandbox says,
// and all that the host answers.
const (
	saysReady  = 'r' // the listener comes with it
	saysFailed = 'f' // the reason comes with it
	saysGo     = 'g'
)

// Install puts the calling thread under the filter, hands the filter's other end
// to the host and waits until the host lets it go. The goroutine is locked to its
// thread: what it starts or becomes is watched, the process's other threads are not.
func Install(socket int) error {
	runtime.LockOSThread()                    // never unlocked
	defer func() { _ = unix.Close(socket) }() // all was said
	listener, err := install()
	if err != nil {
		_ = unix.Sendmsg(socket, append([]byte{saysFailed}, err.Error()...), nil, nil, 0) // the caller has the error
		return err
	}
	err = unix.Sendmsg(socket, []byte{saysReady}, unix.UnixRights(listener), nil, 0)
	_ = unix.Close(listener) // the host has its own
	if err != nil {
		return fmt.Errorf("reach the host: %w", err)
	}
	answer := make([]byte, 1)
	for {
		n, err := unix.Read(socket, answer)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("read", err)
		case n != 1 || answer[0] != saysGo:
			return errors.New("the host does not let it go")
		default:
			return nil
		}
	}
}
