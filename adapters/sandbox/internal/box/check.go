//go:build linux

package box

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/probe"
)

// checkWithin limits the duration of a self-test.
const checkWithin = 20 * time.Second

// Check tests a sandbox: a probe in it must fail to read, to write and to reach anything outside. Its errors wrap
// [sandbox.ErrUnavailable].
func Check(ctx context.Context, s sandbox.Sandbox) error {
	if err := check(ctx, s); err != nil {
		if errors.Is(err, sandbox.ErrUnavailable) {
			return err
		}
		return fmt.Errorf("%w: %s: %w", sandbox.ErrUnavailable, s.Name(), err)
	}
	return nil
}

func check(ctx context.Context, s sandbox.Sandbox) (err error) {
	dir, err := os.MkdirTemp("", "sma-sandbox-")
	if err != nil {
		return fmt.Errorf("set up the self-test: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tries, stop, err := outside(ctx, dir)
	if err != nil {
		return fmt.Errorf("set up the self-test: %w", err)
	}
	defer stop()
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the probe: %w", err)
	}
	homes(&tries, executable)
	argv, err := probe.Argv(executable, tries)
	if err != nil {
		return err
	}
	work := filepath.Join(dir, "work")
	env := []string{"PROBE=1"}
	var out, words bytes.Buffer
	p, err := s.Start(ctx, sandbox.Spec{
		Argv: argv, Dir: work, Env: env, Writable: []string{work}, Readable: []string{executable}, Hidden: []string{filepath.Join(work, "hidden")},
		Limits: sandbox.Limits{Wall: checkWithin}, Stdout: &out, Stderr: &words,
	})
	if err != nil {
		return err
	}
	exit, err := p.Wait()
	if err != nil {
		return err
	}
	var got probe.Report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || exit.Code != 0 {
		return fmt.Errorf("the probe did not run: code %d %s %s", exit.Code, exit.Signal, strings.TrimSpace(words.String()))
	}
	want := append(env, "PWD="+work)
	slices.Sort(got.Env)
	if slices.Sort(want); !slices.Equal(got.Env, want) {
		got.Broken = append(got.Broken, "it sees another environment than its own")
	}
	// The outer folder is below /tmp, of which the program has its own, so its files there are not visible here.
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		got.Broken = append(got.Broken, "it wrote outside of its folder")
	}
	if len(got.Files) > 0 {
		got.Broken = append(got.Broken, "it has open files: "+strings.Join(got.Files, ", "))
	}
	if len(got.Broken) > 0 {
		return errors.New("it does not contain: " + strings.Join(got.Broken, "; "))
	}
	return nil
}

// homes adds people's folders to what the probe must not read. If the probe's own program is in one of them, each folder
// on the path to it may show that one entry and no other.
func homes(t *probe.Tries, executable string) {
	for _, home := range []string{"/root", "/home"} {
		if !within(executable, home) {
			t.Read = append(t.Read, home)
			continue
		}
		for dir := filepath.Dir(executable); within(dir, home); dir = filepath.Dir(dir) {
			t.Passed = append(t.Passed, dir)
		}
	}
}

// outside makes the targets that the probe must not reach, and a folder to work in.
func outside(ctx context.Context, dir string) (t probe.Tries, stop func(), err error) {
	t = probe.Tries{
		Read:  []string{filepath.Join(dir, "secret"), filepath.Join(dir, "work/hidden"), filepath.Join(dir, "work/link"), "/etc/shadow"},
		Write: []string{filepath.Join(dir, "work/hidden/new"), "/etc/new", "/usr/new", "/proc/sys/kernel/core_pattern"},
		Works: []string{filepath.Join(dir, "work/new"), "/tmp/new", "/dev/null"},
	}
	var listeners []net.Listener
	stop = func() {
		for _, l := range listeners {
			_ = l.Close() // no connections were expected
		}
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600),
		os.MkdirAll(filepath.Join(dir, "work/hidden"), 0o700),
		os.WriteFile(filepath.Join(dir, "work/hidden/secret"), []byte("secret"), 0o600),
		os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "work/link")),
	)
	if err != nil {
		return t, stop, err
	}
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", "@" + filepath.Base(dir)}, {"unix", filepath.Join(dir, "socket")}} {
		l, err := (&net.ListenConfig{}).Listen(ctx, at[0], at[1])
		if err != nil {
			stop()
			return t, func() {}, err
		}
		listeners = append(listeners, l)
		t.Dial = append(t.Dial, [2]string{at[0], l.Addr().String()})
	}
	return t, stop, nil
}
