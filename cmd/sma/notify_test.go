package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// TestServiceManagerIsTold runs the binary like a service manager, which is informed that the host is ready once the
// bot was polled, then that it works, and that it stops.
func TestServiceManagerIsTold(t *testing.T) {
	w := newTelegramWorld(t, 1, "direct", modeltest.NewScript())
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it was read
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
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
	if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until("STOPPING=1")
	_ = v.cmd.Wait() // the exit code is what counts
	if code := v.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	v.cmd = nil
}
