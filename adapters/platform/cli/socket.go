package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// maxSocketPath is a length that every system accepts for the path of a unix socket.
const maxSocketPath = 100

var (
	// ErrNotRunning means that no host listens on the socket.
	ErrNotRunning = errors.New("no host is running here: start it with `sma run`")
	// ErrInUse means that a running host already listens on the socket.
	ErrInUse = errors.New("another host uses this control socket")
)

// withAddress calls use with a sufficiently short path of the socket: its own, or one through a
// descriptor of its folder.
func withAddress(path string, use func(addr string) error) error {
	if len(path) <= maxSocketPath {
		return use(path)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("folder of the control socket: %w", err)
	}
	defer func() { _ = dir.Close() }() // only its descriptor is used
	return use("/proc/self/fd/" + strconv.FormatUint(uint64(dir.Fd()), 10) + "/" + filepath.Base(path))
}

// Listen opens the control socket for this user alone. It takes the socket over from a host that
// has died, but not from a running one, which is [ErrInUse].
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("folder of the control socket: %w", err)
	}
	if conn, err := Dial(ctx, path); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	var ln net.Listener
	err := withAddress(path, func(addr string) error {
		l, err := new(net.ListenConfig).Listen(ctx, "unix", addr)
		if err != nil {
			return fmt.Errorf("control socket %s: %w", path, err)
		}
		if u, ok := l.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false) // by then another host may own that path
		}
		ln = l
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = ln.Close()
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	return ln, nil
}

// removeSocket removes a socket on which no host answers, and nothing else.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("control socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("control socket %s: there is a file that is not a socket", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	return nil
}

// Dial connects to the control socket, or fails with [ErrNotRunning].
func Dial(ctx context.Context, path string) (net.Conn, error) {
	var conn net.Conn
	err := withAddress(path, func(addr string) error {
		d := net.Dialer{Timeout: 5 * time.Second}
		var err error
		conn, err = d.DialContext(ctx, "unix", addr)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNotRunning
	case err != nil:
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	return conn, nil
}
