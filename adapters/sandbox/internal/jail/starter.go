//go:build linux

package jail

import (
	"os"
	"strconv"
	"syscall"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
)

// Starter is the first argument of the process that becomes a program with pins if another tool isolates it. The
// descriptor of its socket and the program's own arguments follow.
const Starter = "sma-sandbox-start"

// startPinned passes the system calls of this thread to the host and executes the program.
func startPinned(socket string, argv []string) int {
	fd, err := strconv.Atoi(socket)
	if err == nil {
		err = box.KeepFiles(configFD)
	}
	if err == nil {
		err = hold.Install(fd)
	}
	if err == nil {
		err = keepFileLimit()
	}
	if err != nil {
		return refuse(argv[0], err)
	}
	path, err := find(argv[0], os.Environ())
	if err == nil {
		err = syscall.Exec(path, argv, os.Environ()) //nolint:gosec // running it is what this is for
	}
	return refuse(argv[0], err)
}
