package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestServiceManagerIsTold runs the binary like a service manager, which is informed that the host is ready once the
// bot was polled, then that it works, and that it stops.
func TestServiceManagerIsTold(t *testing.T) {
	w := newTelegramWorld(t, 1, "direct", modeltest.NewScript())
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "n"), Net: "unixgram"})
	stdtest.Must(t, err)
	defer func() { _ = conn.Close() }() // it was read
	stdtest.Must(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	until := func(word string) (before []string) {
		t.Helper()
		for buf := make([]byte, 4096); ; {
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("%s did not arrive: %v", word, err)
			}
			told := string(buf[:n])
			if strings.HasPrefix(told, word+"\nSTATUS=") {
				return before
			}
			before = append(before, told)
		}
	}
	v := newVictim(t, w.dir, killable(t))
	v.env = append(v.env, "NOTIFY_SOCKET="+conn.LocalAddr().String(), "WATCHDOG_USEC=300000")
	v.start(t)
	for _, told := range until("READY=1") {
		if !strings.HasPrefix(told, "STATUS=") {
			t.Errorf("before it is ready, the host says %q", told)
		}
	}
	if len(w.api.Calls("getUpdates")) == 0 {
		t.Error("the host says that it is ready before it asked for messages")
	}
	until("WATCHDOG=1")
	until("WATCHDOG=1")
	stdtest.Must(t, v.cmd.Process.Signal(syscall.SIGTERM))
	until("STOPPING=1")
	_ = v.cmd.Wait() // the exit code is what counts
	if code := v.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	v.cmd = nil
}
