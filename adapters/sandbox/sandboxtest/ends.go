//go:build linux

package sandboxtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// hostMarker turns a test binary into a host that is about to crash.
const hostMarker = "SANDBOXTEST_HOST"

// stubborn starts processes that try to outlive it: in another session, by a double fork, ignoring signals. Each has
// the marker in its command line.
func stubborn(marker string) string {
	return fmt.Sprintf(`trap "" TERM HUP INT QUIT
sleep 10000.%[1]s & setsid sleep 10000.%[1]s & (setsid sh -c 'trap "" TERM HUP; (sleep 10000.%[1]s &) ; sleep 10000.%[1]s' &) >/dev/null 2>&1 </dev/null
echo ready; sleep 10000.%[1]s`, marker)
}

// Ends is SB4: when a program ends for any reason, everything that it started ends.
func Ends(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	for i := range times(100, 10) {
		marker := fmt.Sprintf("%d%03d", os.Getpid(), i)
		w := newWorld(t)
		spec := w.shell(stubborn(marker))
		ctx, cancel := context.WithCancel(t.Context())
		switch i % 5 {
		case 0:
			p := begun(t, ctx, s, spec)
			cancel()
			mustEnd(t, p, "")
		case 1:
			p := begun(t, ctx, s, spec)
			p.Kill()
			p.Kill()
			mustEnd(t, p, "")
		case 2:
			spec.Limits.Wall = 300 * time.Millisecond
			p, err := s.Start(ctx, spec)
			stdtest.Must(t, err)
			mustEnd(t, p, sandbox.LimitWall)
		case 3:
			spec.Argv[2] = strings.Replace(spec.Argv[2], "echo ready; sleep", "echo ready; exit 0; sleep", 1)
			must(t, s, spec)
		case 4:
			crash(t, marker)
		}
		cancel()
		if left := withMarker(t, marker); len(left) > 0 {
			t.Fatalf("run %d: %d survivors:\n%s", i, len(left), strings.Join(left, "\n"))
		}
	}
}

// mustEnd waits for a killed program.
func mustEnd(t *testing.T, p sandbox.Process, limit string) {
	t.Helper()
	exit, err := p.Wait()
	if err != nil || exit.Code != -1 || exit.Signal != "SIGKILL" || exit.Limit != limit {
		t.Errorf("it ended with %+v, %v; want SIGKILL, limit %q", exit, err, limit)
	}
}

// crash kills a host with a running program, and waits until all processes have ended.
func crash(t *testing.T, marker string) {
	t.Helper()
	executable, err := os.Executable()
	stdtest.Must(t, err)
	cmd := exec.CommandContext(t.Context(), executable) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), hostMarker+"="+marker)
	cmd.Dir = Outside(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	stdtest.Must(t, err)
	stdtest.Must(t, cmd.Start())
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatalf("the host that was to crash ended: %v", err)
	}
	if len(withMarker(t, "10000."+marker)) == 0 {
		t.Fatal("nothing runs in the host that was to crash")
	}
	stdtest.Must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	faketest.Poll(t, "everything is gone after the host's death", func() bool { return len(withMarker(t, marker)) == 0 })
}

// crashingHost runs a program and waits to be killed.
func crashingHost(s sandbox.Sandbox, marker string) {
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return
	}
	p, err := s.Start(context.Background(), sandbox.Spec{
		Argv: []string{"sh", "-c", stubborn(marker)}, Dir: work, Env: []string{"PATH=/usr/bin:/bin"}, Writable: []string{work}, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err) // the test shows it
		return
	}
	_, _ = p.Wait() // it is killed before
}
