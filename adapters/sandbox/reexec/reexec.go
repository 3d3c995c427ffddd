//go:build linux

package reexec

import (
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/jail"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/probe"
)

// Main must be called first in main. It returns at once in a host, and never in a process that a sandbox started.
func Main() {
	jail.Main()
	probe.Main()
}
