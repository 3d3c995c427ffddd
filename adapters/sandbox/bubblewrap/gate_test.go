//go:build linux

package bubblewrap

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// bwrap reads one byte from the gate and must wait for it. A program that did not wait would run
// before its limits are set.
func TestSB5GateHoldsUntilItIsOpened(t *testing.T) {
	gate, err := newGate()
	stdtest.Must(t, err)
	defer func() { _ = gate.Close() }()
	fd := int(gate.Fd()) //nolint:gosec // a descriptor
	stdtest.Must(t, unix.SetNonblock(fd, true))
	b := make([]byte, 1)
	if n, err := unix.Read(fd, b); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a closed gate: read %d bytes, %v; want it to block", n, err)
	}
	stdtest.Must(t, (&report{gate: gate}).open())
	if n, err := unix.Read(fd, b); n != 1 || err != nil {
		t.Errorf("an open gate: read %d bytes, %v; want one", n, err)
	}
}
