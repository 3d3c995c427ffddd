//go:build linux

package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/off"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMain(m *testing.M) {
	reexec.Main()
	os.Exit(m.Run())
}

// checked is a sandbox that reports whether it isolates anything.
type checked interface {
	sandbox.Sandbox
	Check(ctx context.Context) error
}

// walls returns the sandboxes of this machine that isolate something.
func walls(t *testing.T) []sandbox.Sandbox {
	t.Helper()
	var out []sandbox.Sandbox
	for _, s := range []checked{bubblewrap.New(bubblewrap.Options{}), landlock.New(landlock.Options{})} {
		switch err := s.Check(t.Context()); {
		case err == nil:
			out = append(out, s)
		case machinetest.Required():
			t.Fatalf("%s is required: %v", s.Name(), err)
		default:
			t.Logf("not with %s: %v", s.Name(), err)
		}
	}
	return out
}

// place is one sandbox in which a test runs.
type place struct {
	t  *testing.T
	in func(*shell.Options)
}

// behindWalls runs a test in each sandbox that isolates something.
func behindWalls(t *testing.T, test func(p place)) {
	t.Helper()
	for _, s := range walls(t) {
		t.Run(s.Name(), func(t *testing.T) { test(place{t, func(o *shell.Options) { o.Sandbox = s }}) })
	}
}

// everywhere runs a test in each sandbox, including those that isolate nothing.
func everywhere(t *testing.T, test func(p place)) {
	t.Helper()
	t.Run("open", func(t *testing.T) { test(place{t, func(*shell.Options) {}}) })
	t.Run("off", func(t *testing.T) { test(place{t, func(o *shell.Options) { o.Sandbox = off.New() }}) })
	behindWalls(t, test)
}

// What was checked is what runs, whoever changes it meanwhile: another process of
// the workspace rewrites, replaces and swaps a script as fast as it can. A call
// either runs the bytes that were agreed to, or says that they changed.
func TestAP7CheckedBytesAreWhatRuns(t *testing.T) {
	rounds := soak(1000, 100)
	behindWalls(t, func(p place) {
		t, in := p.t, p.in
		w := newWorld(t, in)
		good, evil := "echo good\n", "echo evil\n"
		names := []string{"run.sh", "sub/run.sh"}
		write := func(text string) {
			for _, n := range names {
				w.write(n, "#!/bin/sh\n"+text, 0o755)
			}
		}
		commands := []string{"./run.sh", "sh run.sh", "bash ./run.sh x y", "cd sub && ./run.sh", "sh -c 'sh ./run.sh'", "cat run.sh | sh", "f=run.sh; sh $f", "timeout 9 ./run.sh", ". ./run.sh"}
		calls := map[string]int{}
		for round := range rounds {
			write(good)
			c := call(shell.ExecName, obj{"command": commands[round%len(commands)], "why": "x"})
			c.Bind = w.explain(c).Bind
			stop := mutate(w, round, names, evil)
			r, err := w.invoke(c)
			stop()
			switch {
			case err == nil && strings.Contains(string(r.Output), `"output":"good\n"`):
				calls["ran"]++
			case err != nil:
				calls["refused"]++
				if strings.Contains(err.Error(), "evil") {
					t.Errorf("round %d: %v", round, err)
				}
			case strings.Contains(string(r.Output), "evil"):
				t.Fatalf("round %d: %s ran what nobody agreed to: %s", round, commands[round%len(commands)], r.Output)
			default:
				calls["failed"]++ // a name that was gone at the moment
			}
		}
		t.Logf("%d rounds: %v", rounds, calls)
		if calls["refused"] == 0 || calls["ran"] == 0 {
			t.Errorf("%v: want some that ran and some that were refused", calls)
		}
	})
}

// mutate changes scripts, in all possible ways, until it is stopped. It begins after a time that differs from round to
// round, so that changes happen before, during and after the check.
func mutate(w *world, round int, names []string, evil string) (stop func()) {
	end := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		timer := time.NewTimer(time.Duration(round%25) * 2 * time.Millisecond)
		defer timer.Stop()
		for {
			select {
			case <-end:
				return
			case <-timer.C:
			}
			for _, n := range names {
				change(filepath.Join(w.dir, n), "#!/bin/sh\n"+evil, round%4)
			}
			timer.Reset(100 * time.Microsecond)
		}
	})
	return func() {
		close(end)
		wait.Wait()
		for _, n := range names { // a link must not be written through in the next round
			_ = os.Remove(filepath.Join(w.dir, n))
		}
	}
}

// change gives a file other bytes: in place, by another file, by a link, anew. What
// a sandbox keeps from happening does not happen.
func change(path, text string, way int) {
	switch way {
	case 0:
		_ = os.WriteFile(path, []byte(text), 0o755)
	case 1:
		_ = os.WriteFile(path+".new", []byte(text), 0o755)
		_ = os.Rename(path+".new", path)
	case 2:
		_ = os.WriteFile(path+".other", []byte(text), 0o755)
		_ = os.Remove(path)
		_ = os.Symlink(path+".other", path)
	default:
		_ = os.Remove(path)
		_ = os.WriteFile(path, []byte(text), 0o755)
	}
}

// A mutator that waits until the bytes were checked changes nothing that runs: the
// window between the check and the run is held open.
func TestAP7ChangedBetweenCheckAndRun(t *testing.T) {
	behindWalls(t, func(p place) {
		t, in := p.t, p.in
		for _, command := range []string{"./run.sh", "sh run.sh", "cat run.sh | sh", "cd sub; sh ../run.sh", "f=./run.sh; $f", "make -s"} {
			var w *world
			w = newWorld(t, in, func(o *shell.Options) {
				o.Sandbox = late{o.Sandbox, func() { // between the check and the run
					w.write("run.sh", "#!/bin/sh\necho evil\n", 0o755)
					w.write("Makefile", "all:\n\t@echo evil\n", 0o644)
				}}
			})
			w.write("run.sh", "#!/bin/sh\necho good\n", 0o755)
			w.write("Makefile", "all:\n\t@echo good\n", 0o644)
			w.write("sub/x", "", 0o644)
			if command == "make -s" {
				if _, err := os.Stat("/usr/bin/make"); err != nil {
					continue
				}
			}
			if out, code := w.run(command); out != "good\n" || code != 0 {
				t.Errorf("%s printed %q, exit code %d; want what was checked", command, out, code)
			}
		}
	})
}

// late calls a function before each start.
type late struct {
	sandbox.Sandbox
	before func()
}

func (l late) Start(ctx context.Context, s sandbox.Spec) (sandbox.Process, error) {
	l.before()
	return l.Sandbox.Start(ctx, s)
}

// A command that asks a question, on a terminal, through a helper or on its input, ends by itself.
func TestSB10NothingWaitsForAnybody(t *testing.T) {
	behindWalls(t, func(p place) {
		t, in := p.t, p.in
		w := newWorld(t, in)
		for _, command := range []string{
			"read x", "cat", "head -c1 </dev/tty", "bash -i -c true", "stty -a", "git clone https://127.0.0.1:1/x", "git credential fill </dev/null",
			"printf 'protocol=https\\nhost=x\\n' | git credential fill", "ssh-keygen -y -f nothing", "git commit --amend", "git rebase -i HEAD~1", "less /etc/hostname",
			"man true", "sudo -A true", "su -c true nobody </dev/null", "passwd", "python3 -c 'input()'", "python3 -c 'import getpass; getpass.getpass()'",
			"vi -E", "ed", "sh", "git log", "select x in a b; do break; done",
		} {
			began := time.Now()
			out := w.answer(call(shell.ExecName, obj{"command": command, "why": "x", "timeoutS": 120}))
			took := time.Since(began)
			if out["limit"] != nil {
				t.Errorf("%s was stopped by the limit of %v after %s", command, out["limit"], took)
			}
			pauses := strings.HasPrefix(command, "su ") // after a refusal, by itself
			if os.Getenv("SOAK") != "" && took > time.Second && !pauses {
				t.Errorf("%s took %s", command, took)
			}
		}
	})
}

// In a sandbox a command finds the project and what it may know, and nothing else.
func TestCommandsFindTheProjectOnly(t *testing.T) {
	behindWalls(t, func(p place) {
		t, in := p.t, p.in
		w := newWorld(t, in)
		secrets := []string{".ship/chat/b/messages/history.jsonl", ".ship/access.json", ".ship/memory/users/x.md", "ship.json", ".env", "sub/.env.local", ".envrc", "id_rsa", "id_ed25519.old", "a/tls.key", "server.p12", "vault.kdbx", ".pgpass"}
		for _, name := range secrets {
			w.write(name, "canary", 0o644)
		}
		w.write(".ship/skills/x/SKILL.md", "a skill", 0o644)
		w.write("Agent.md", "the agent", 0o644)
		for _, name := range secrets {
			if out, _ := w.run("cat " + name + "; ls -la " + filepath.Dir(name)); strings.Contains(out, "canary") {
				t.Errorf("%s can be read: %s", name, out)
			}
		}
		if out, _ := w.run("grep -r canary . / 2>/dev/null | grep -v '^/proc' | head -3"); strings.Contains(out, ":canary") {
			t.Errorf("found: %s", out)
		}
		if out, code := w.run("cat .ship/skills/x/SKILL.md Agent.md"); code != 0 || out != "a skillthe agent" {
			t.Errorf("skills and the agent: %q, exit code %d", out, code)
		}
		for _, command := range []string{
			"echo x > Agent.md", "rm -f Agent.md", "mv Agent.md x", "echo x > .ship/skills/x/SKILL.md", "mkdir .ship/skills/y", "mkdir .ship/new", "echo '{}' > ship.json",
			"rm -rf .ship/skills", "echo x > .env", "mv .ship x",
		} {
			if out, code := w.run(command); code == 0 {
				t.Errorf("%s worked: %s", command, out)
			}
		}
		for name, want := range map[string]string{"Agent.md": "the agent", ".ship/skills/x/SKILL.md": "a skill", "ship.json": "canary", ".env": "canary"} {
			if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v afterwards", name, got, err)
			}
		}
		if out, code := w.run("mkdir -p new/x && echo y > new/x/y && cat new/x/y && echo z > ~/z && cat ~/z"); code != 0 || out != "y\nz\n" {
			t.Errorf("the project: %q, exit code %d", out, code)
		}
		if out, code := w.run("exec 3<>/dev/tcp/127.0.0.1/22"); code == 0 {
			t.Errorf("the network is there: %s", out)
		}
	})
}

// A gigabyte of output is handled in limited memory.
func TestRL9Gigabyte(t *testing.T) {
	for _, s := range walls(t) {
		t.Run(s.Name(), func(t *testing.T) {
			size := soak(1<<30, 32<<20)
			w := newWorld(t, func(o *shell.Options) { o.Sandbox, o.Most, o.Keep = s, int64(size), nil })
			before := resident(t)
			out := w.answer(call(shell.ExecName, obj{"command": "yes 0123456789012345678901234567890123456789012345678901234567890", "why": "x", "timeoutS": 600}))
			grown := resident(t) - before
			if out["limit"] != "output" || short(out)["bytes"] != float64(size) {
				t.Errorf("result %v", out)
			}
			t.Logf("%d MiB printed, resident memory grew by %d KiB, %v ms", size>>20, grown>>10, out["durationMs"])
			if os.Getenv("SOAK") != "" && grown > 32<<20 {
				t.Errorf("resident memory grew by %d MiB", grown>>20)
			}
		})
	}
}

func resident(t *testing.T) int {
	t.Helper()
	text := stdtest.Read(t, "/proc/self/statm")
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
