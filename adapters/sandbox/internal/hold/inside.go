//go:build linux

package hold

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// The message types: the first byte of messages from the sandbox, and the whole message from the host.
const (
	saysReady  = 'r' // carries the listener
	saysFailed = 'f' // carries the reason
	saysGo     = 'g'
)

// Install applies the filter to the calling thread, passes the filter's listener to the host and waits until the host
// releases it. The goroutine is locked to its thread: what the thread starts or becomes is watched, other threads of
// the process are not.
func Install(socket int) error {
	runtime.LockOSThread()                    // never unlocked
	defer func() { _ = unix.Close(socket) }() // the exchange is complete
	listener, err := install()
	if err != nil {
		_ = unix.Sendmsg(socket, append([]byte{saysFailed}, err.Error()...), nil, nil, 0) // the caller has the error
		return err
	}
	err = unix.Sendmsg(socket, []byte{saysReady}, unix.UnixRights(listener), nil, 0)
	_ = unix.Close(listener) // the host has its own copy
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
			return errors.New("the host did not let the program start")
		default:
			return nil
		}
	}
}
