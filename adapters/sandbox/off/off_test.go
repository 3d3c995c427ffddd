//go:build linux

package off_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/off"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMain(m *testing.M) {
	sandboxtest.Main(m, func() sandboxtest.Checker { return off.New() })
}

func TestStreams(t *testing.T)             { sandboxtest.Streams(t, off.New()) }
func TestSB10PromptsFailFast(t *testing.T) { sandboxtest.Prompts(t, off.New()) }

func run(t *testing.T, spec sandbox.Spec, text string) (string, sandbox.Exit) {
	t.Helper()
	var out strings.Builder
	spec.Argv, spec.Stdout = []string{"sh", "-c", text}, &out
	p, err := off.New().Start(t.Context(), spec)
	stdtest.Must(t, err)
	exit, err := p.Wait()
	stdtest.Must(t, err)
	return out.String(), exit
}

func TestLimitsAndEnvironmentHold(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CANARY", "canary")
	spec := sandbox.Spec{Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
	if out, _ := run(t, spec, "env; pwd"); strings.Contains(out, "canary") || !strings.Contains(out, dir) {
		t.Errorf("output = %q, want no canary and the folder", out)
	}
	spec.Limits.Wall = 200 * time.Millisecond
	if _, exit := run(t, spec, "sleep 1000 & sleep 1000"); exit.Limit != sandbox.LimitWall {
		t.Errorf("it ended with %+v, want the wall limit", exit)
	}
	spec.Limits = sandbox.Limits{CPU: time.Second}
	if _, exit := run(t, spec, "while :; do :; done"); exit.Limit != sandbox.LimitCPU {
		t.Errorf("it ended with %+v, want the CPU limit", exit)
	}
	spec.Limits = sandbox.Limits{OpenFiles: 40}
	if out, _ := run(t, spec, "ulimit -n"); out != "40\n" {
		t.Errorf("open files = %q, want 40", out)
	}
}

func TestPinnedFilesAreLookedAt(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "run.sh")
	stdtest.Must(t, os.WriteFile(script, []byte("echo good"), 0o600))
	spec := sandbox.Spec{Argv: []string{"sh", script}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Pinned: []sandbox.Pin{{Path: script, Data: []byte("echo good")}}}
	p, err := off.New().Start(t.Context(), spec)
	stdtest.Must(t, err)
	if exit, err := p.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("unchanged: %+v, %v", exit, err)
	}
	spec.Pinned[0].Data = []byte("echo other")
	if _, err := off.New().Start(t.Context(), spec); !errors.Is(err, sandbox.ErrReplaced) {
		t.Errorf("changed: %v, want ErrReplaced", err)
	}
}

// A program that has ended is not killed again: another one may have its number by then.
func TestAnotherProgramOfTheSameNumberIsNotKilled(t *testing.T) {
	const last = "/proc/sys/kernel/ns_last_pid"
	for range 20 { // others may take the number
		var out strings.Builder
		p, err := off.New().Start(t.Context(), sandbox.Spec{Argv: []string{"sh", "-c", "echo $$"}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out})
		stdtest.Must(t, err)
		if exit, err := p.Wait(); err != nil || exit.Code != 0 {
			t.Fatal(exit, err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
		stdtest.Must(t, err)
		if err := os.WriteFile(last, []byte(strconv.Itoa(pid-1)), 0); err != nil {
			t.Skip("the next number cannot be chosen here: ", err)
		}
		other := exec.CommandContext(t.Context(), "sleep", "100")
		other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		stdtest.Must(t, other.Start())
		p.Kill()
		killed := other.Process.Signal(syscall.SIGTERM) != nil
		err = other.Wait()
		if other.Process.Pid != pid {
			continue
		}
		if status, ok := other.ProcessState.Sys().(syscall.WaitStatus); killed || !ok || status.Signal() != syscall.SIGTERM {
			t.Errorf("the other program ended with %v", err)
		}
		return
	}
	t.Skip("no other program got the number")
}
