package main

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestTakenPort: who starts a second demo is told what is wrong and what helps.
func TestTakenPort(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	defer func() { _ = l.Close() }() // nothing was read from it
	cmd := newVictim(t, t.TempDir(), killable(t)).command(t, "demo", "--listen", l.Addr().String())
	var said bytes.Buffer
	cmd.Stderr = &said
	_ = cmd.Run() // the exit code is what counts
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit code = %d, want 5", code)
	}
	for _, want := range []string{l.Addr().String() + " is taken by another program", "try: sma demo --listen 127.0.0.1:"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("stderr does not say %q:\n%s", want, said.String())
		}
	}
}
