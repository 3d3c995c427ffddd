//go:build linux

package sandboxtest

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/jail"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/probe"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// nobody is a user without privileges.
const nobody = 65534

// Checker is a sandbox with a self-test.
type Checker interface {
	sandbox.Sandbox
	Check(ctx context.Context) error
}

// Main is the TestMain of an implementation.
func Main(m *testing.M, create func() Checker) {
	jail.Main()
	probe.Main()
	if marker := os.Getenv(hostMarker); marker != "" {
		crashingHost(create(), marker)
		os.Exit(1)
	}
	if len(os.Args) == 3 && os.Args[1] == attackName {
		os.Exit(attack(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == threadName {
		os.Exit(execFromThread(os.Args[2]))
	}
	os.Exit(m.Run())
}

// Need returns the sandbox if it works here. Otherwise the test is skipped, or fails with REQUIRE_ALL=1.
func Need(t *testing.T, s Checker) Checker {
	t.Helper()
	if err := s.Check(t.Context()); err != nil {
		machinetest.Missing(t, err.Error())
	}
	return s
}

// AsNobody runs all other tests of a sandbox again as a user without privileges. It needs root.
func AsNobody(t *testing.T, s Checker) {
	t.Helper()
	const pattern = "TestSB|TestAP|TestFiles|TestRefused|TestStreams"
	t.Logf("%s, which root can have", s.Name())
	if os.Getuid() != 0 {
		t.Skip("it is a user without powers who runs this")
	}
	dir := Outside(t)
	for dir := dir; dir != "/var/tmp"; dir = filepath.Dir(dir) {
		stdtest.Must(t, os.Chmod(dir, 0o755)) //nolint:gosec // another user needs access
	}
	executable, err := os.Executable()
	stdtest.Must(t, err)
	data, err := os.ReadFile(executable) //nolint:gosec // this program
	stdtest.Must(t, err)
	copied := filepath.Join(dir, "copied.test")
	stdtest.Must(t, os.WriteFile(copied, data, 0o755)) //nolint:gosec // another user has to run it
	tmp := filepath.Join(dir, "tmp")
	stdtest.Must(t, os.Mkdir(tmp, 0o700))
	stdtest.Must(t, os.Chown(tmp, nobody, nobody))
	cmd := exec.CommandContext(t.Context(), copied, "-test.run", pattern, "-test.v", "-test.timeout", "10m") //nolint:gosec // this program
	cmd.Dir = tmp
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + tmp, "TMPDIR=" + tmp, "SANDBOXTEST_DIR=" + tmp, "REQUIRE_ALL=" + os.Getenv("REQUIRE_ALL"), "SOAK=" + os.Getenv("SOAK")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as a user without powers: %v\n%s", err, out)
	}
	passed := regexp.MustCompile(`(?m)^--- (PASS|SKIP): (\S+)`).FindAllStringSubmatch(string(out), -1)
	if len(passed) == 0 {
		t.Fatalf("no test was run:\n%s", out)
	}
	for _, p := range passed {
		t.Logf("as uid %d: %s %s", nobody, p[1], p[2])
		if p[1] == "SKIP" {
			t.Errorf("skipped as a user without powers:\n%s", out)
			return
		}
	}
}

// Outside is a folder that no program sees, regardless of TMPDIR.
func Outside(t *testing.T) string {
	t.Helper()
	base := "/var/tmp"
	if own := os.Getenv("SANDBOXTEST_DIR"); own != "" {
		base = own
	}
	dir, err := os.MkdirTemp(base, "sandboxtest-") //nolint:usetesting // that is in /tmp, of which programs have their own
	stdtest.Must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// world has the host's folders for a test.
type world struct {
	dir  string // not visible
	work string // writable
	env  []string
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{dir: Outside(t), env: []string{"PATH=/usr/bin:/bin"}}
	w.work = filepath.Join(w.dir, "work")
	stdtest.Must(t, os.Mkdir(w.work, 0o700))
	return w
}

// write creates a file in the world's folder.
func (w world) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.dir, name)
	stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// shell is a spec that runs a shell text in the writable folder.
func (w world) shell(text string) sandbox.Spec {
	return sandbox.Spec{
		Argv: []string{"sh", "-c", text}, Dir: w.work, Env: w.env, Writable: []string{w.work},
		Limits: sandbox.Limits{Wall: time.Minute},
	}
}

type result struct {
	exit     sandbox.Exit
	out, err string
	failed   error
}

// run runs a program until it ends.
func run(t *testing.T, s sandbox.Sandbox, spec sandbox.Spec) result {
	t.Helper()
	var out, words bytes.Buffer
	spec.Stdout, spec.Stderr = &out, &words
	p, err := s.Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("start %q: %v", spec.Argv, err)
	}
	exit, failed := p.Wait()
	return result{exit: exit, out: out.String(), err: words.String(), failed: failed}
}

// must runs a program that must succeed, and returns its output.
func must(t *testing.T, s sandbox.Sandbox, spec sandbox.Spec) string {
	t.Helper()
	r := run(t, s, spec)
	if r.failed != nil || r.exit != (sandbox.Exit{}) {
		t.Fatalf("%q ended with %+v, %v\nstdout: %s\nstderr: %s", spec.Argv, r.exit, r.failed, r.out, r.err)
	}
	return r.out
}

// begun starts a program and waits for its first output.
func begun(t *testing.T, ctx context.Context, s sandbox.Sandbox, spec sandbox.Spec) sandbox.Process { //nolint:revive // the test comes first in helpers
	t.Helper()
	r, w := io.Pipe()
	spec.Stdout = w
	p, err := s.Start(ctx, spec)
	if err != nil {
		t.Fatalf("start %q: %v", spec.Argv, err)
	}
	late := time.AfterFunc(2*time.Minute, func() { _ = w.CloseWithError(os.ErrDeadlineExceeded) })
	defer late.Stop()
	first := make([]byte, 1)
	if _, err := r.Read(first); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // it ends with the test
	t.Cleanup(func() { _ = w.Close() })
	return p
}

// withMarker lists the host's processes with a text in their command line.
func withMarker(t *testing.T, marker string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	stdtest.Must(t, err)
	var out []string
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "cmdline")) //nolint:gosec // a process
		if err == nil && strings.Contains(string(data), marker) {
			state, _ := os.ReadFile(filepath.Join(dir, "stat")) //nolint:gosec // a process
			out = append(out, dir+" "+strings.ReplaceAll(string(data), "\x00", " ")+string(state))
		}
	}
	return out
}

// soak reports whether long tests are requested.
func soak() bool { return os.Getenv("SOAK") != "" }

// times chooses the count for a long or a short test.
func times(long, short int) int {
	if soak() {
		return long
	}
	return short
}
