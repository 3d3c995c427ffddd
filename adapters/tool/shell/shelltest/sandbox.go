// Package shelltest has a sandbox without containment, for tests of tools that start programs.
package shelltest

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// Open starts programs as the host's user without containment, each in its own process group, which is killed as a
// whole. It records what it started. It is safe for concurrent use.
type Open struct {
	// Err, if set, is returned instead of starting a program.
	Err error

	mu    sync.Mutex
	specs []sandbox.Spec
}

var _ sandbox.Sandbox = (*Open)(nil)

// Name implements [sandbox.Sandbox].
func (*Open) Name() string { return "open" }

// Specs returns what was started so far, in order.
func (o *Open) Specs() []sandbox.Spec {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]sandbox.Spec(nil), o.specs...)
}

// Start implements [sandbox.Sandbox].
func (o *Open) Start(ctx context.Context, s sandbox.Spec) (sandbox.Process, error) {
	o.mu.Lock()
	o.specs = append(o.specs, s)
	o.mu.Unlock()
	if o.Err != nil {
		return nil, o.Err
	}
	run, cancel := context.WithCancel(ctx)
	if s.Limits.Wall > 0 {
		cancel()
		run, cancel = context.WithTimeout(ctx, s.Limits.Wall)
	}
	over := &process{cancel: cancel}
	//nolint:gosec // it is a test that says what runs
	over.cmd = exec.CommandContext(run, s.Argv[0], s.Argv[1:]...)
	over.cmd.Dir, over.cmd.Env = s.Dir, s.Env
	over.cmd.Stdin, over.cmd.Stdout, over.cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	over.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	over.cmd.Cancel = func() error { return syscall.Kill(-over.cmd.Process.Pid, syscall.SIGKILL) }
	if err := over.cmd.Start(); err != nil {
		over.cancel()
		return nil, err
	}
	over.ctx, over.outer = run, ctx
	return over, nil
}

type process struct {
	cmd        *exec.Cmd
	ctx, outer context.Context //nolint:containedctx // the life of the process
	cancel     context.CancelFunc
}

func (p *process) Wait() (sandbox.Exit, error) {
	err := p.cmd.Wait()
	defer p.cancel()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && p.cmd.ProcessState == nil {
		return sandbox.Exit{}, err
	}
	exit := sandbox.Exit{Code: p.cmd.ProcessState.ExitCode()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = unix.SignalName(status.Signal())
	}
	if errors.Is(p.ctx.Err(), context.DeadlineExceeded) && p.outer.Err() == nil {
		exit.Limit = "wall"
	}
	return exit, nil
}

func (p *process) Kill() { p.cancel() }
