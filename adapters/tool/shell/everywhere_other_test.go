//go:build !linux

package shell_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
)

// place is where a test runs commands.
type place struct {
	t  *testing.T
	in func(*shell.Options)
}

// everywhere runs a test without a sandbox, because there is none on this system.
func everywhere(t *testing.T, test func(p place)) {
	t.Helper()
	test(place{t, func(*shell.Options) {}})
}

// behindWalls skips a test that needs a sandbox.
func behindWalls(t *testing.T, _ func(p place)) {
	t.Helper()
	t.Skip("there is no sandbox on this system")
}
