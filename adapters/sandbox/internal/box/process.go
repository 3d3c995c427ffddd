//go:build linux

package box

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
)

const (
	// readyWithin bounds putting up a sandbox.
	readyWithin = 30 * time.Second
	// drainWithin bounds taking over the last output of a program that has ended.
	drainWithin = 30 * time.Second
)

// Child is a process that an implementation has prepared.
type Child struct {
	// Cmd is not started; its streams are the box's.
	Cmd *exec.Cmd
	// Init waits until everything is put up and returns the process that all of the
	// program will descend from, blocked. Called once, after the start.
	Init func(ctx context.Context) (pid int, err error)
	// Release lets it run the program. Called once.
	Release func() error
	// Result is how the program ended. Called once, after the process.
	Result func(state *os.ProcessState) (sandbox.Exit, error)
	// Close gives back what only the start needed; called always, and first of all
	// after the start.
	Close func()
	// Group says that there is no namespace: everything is ended by its group.
	Group bool
	// Pins is where what begins the program hands over its calls, see package hold;
	// nil: it has no pins.
	Pins *os.File
}

// Box starts programs. It is safe for concurrent use.
type Box struct {
	// Build prepares a process for what a program sees.
	Build   func(s sandbox.Spec, l sandbox.Limits, p *Plan) (*Child, error)
	Cgroups Cgroups
	ABI     int  // of Landlock
	Bare    bool // nothing is shown or hidden
	// Step is told where a program with pins is, see package hold, and what is changed
	// then the guard alone has to see: nothing else kills the program for it. Nil, but
	// in tests.
	Step   func(step, name string)
	keeper keeper
}

// Start begins a program.
func (b *Box) Start(ctx context.Context, s sandbox.Spec) (sandbox.Process, error) {
	if b.Bare {
		if err := checkSpec(s); err != nil {
			return nil, err
		}
		return b.start(ctx, s, &Plan{})
	}
	plan, err := NewPlan(s)
	if err != nil {
		return nil, err
	}
	return b.start(ctx, s, plan)
}

// start begins a program that sees what a plan says.
func (b *Box) start(ctx context.Context, s sandbox.Spec, plan *Plan) (_ *process, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &process{init: -1, outer: -1, limits: withDefaults(s.Limits), ended: make(chan struct{}), killed: make(chan struct{}), swept: make(chan struct{})}
	defer func() {
		if err != nil {
			p.giveBack()
		}
	}()
	if p.release, err = b.keeper.hold(plan.kept); err != nil {
		return nil, err
	}
	if p.watch, err = newWatch(plan); err != nil {
		return nil, err
	}
	p.watch.run(func() {
		if b.Step == nil {
			p.kill("")
		}
	})
	if p.group, err = b.Cgroups.new(p.limits.Memory, p.limits.Processes); err != nil {
		return nil, err
	}
	p.pins = hold.Watch{Pins: plan.held(), System: plan.systems(), Changed: p.watch.changed, Lost: func() { p.kill("") }, Step: b.Step}
	if b.Step != nil {
		b.Step("watched", "")
	}
	if p.child, err = b.Build(s, p.limits, plan); err != nil {
		return nil, err
	}
	if err = p.begin(ctx, b, s); err != nil {
		return nil, err
	}
	go p.supervise(ctx)
	return p, nil
}

// process is a program that was begun.
type process struct {
	child   *Child
	limits  sandbox.Limits
	group   *group
	watch   *watch
	guard   *hold.Guard // nil: there are no pins
	pins    hold.Watch
	release func()

	mu       sync.Mutex
	first    *os.Process // nil: not put up yet, and not to be killed before
	init     int         // a descriptor of what everything descends from; -1: none
	why      string      // the limit that ended it
	isKilled bool

	outer  int           // a descriptor of the first process, for sweep alone
	swept  chan struct{} // closed when nothing is left that it began
	killed chan struct{} // closed by the first kill
	ended  chan struct{} // closed when everything is gone

	exit sandbox.Exit // valid once ended
	err  error
}

// begin starts the process, bounds it and lets it go.
func (p *process) begin(ctx context.Context, b *Box, s sandbox.Spec) error {
	cmd := p.child.Cmd
	words := listen(cmd, s)
	feed, err := p.connect(s.Stdin)
	if err != nil {
		p.child.Close()
		return err
	}
	if err := startScoped(cmd, b.ABI, !b.Cgroups.CPU(), p.ended); err != nil {
		p.child.Close()
		return fmt.Errorf("start the sandbox: %w", err)
	}
	p.child.Close()
	if err := p.bound(ctx, b); err != nil {
		p.kill("")
		_ = cmd.Process.Kill() // it may be gone
		p.group.kill()
		cmd.WaitDelay = time.Second // what nobody knows of may hold the output
		_ = cmd.Wait()              // it was killed
		if p.init >= 0 {
			p.awaitInit()
		}
		if p.outer >= 0 {
			_ = unix.Close(p.outer) // nothing was written
		}
		close(p.ended)
		lost := p.guard.End() || errors.Is(err, hold.ErrLost)
		if p.watch.end() || lost {
			err = sandbox.ErrReplaced
		} else if said := words.text(); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		p.watch = nil
		return err
	}
	words.stop()
	feed()
	return nil
}

// bound bounds the blocked process and lets it run the program.
func (p *process) bound(ctx context.Context, b *Box) error {
	// In the group from the beginning, so that it is found there if it gets lost.
	if err := p.group.add(p.child.Cmd.Process.Pid); err != nil {
		return err
	}
	// Not to be cut short: a process that dies while it puts up walls may leave
	// others, half made, that nobody knows of.
	long, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	pid, err := p.child.Init(long)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("hold the sandbox: %w", err)
	}
	outer, err := unix.PidfdOpen(p.child.Cmd.Process.Pid, 0)
	if err != nil {
		_ = unix.Close(fd) // nothing was written
		return fmt.Errorf("hold the sandbox: %w", err)
	}
	p.mu.Lock()
	p.outer = outer
	p.init, p.first = fd, p.child.Cmd.Process
	late := p.isKilled
	p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if late {
		return sandbox.ErrReplaced // nothing else could have killed it yet
	}
	if err := p.group.add(pid); err != nil {
		return err
	}
	if p.child.Pins != nil {
		return p.guarded(long, b)
	}
	if err := setLimits(pid, p.limits, b.Cgroups.Memory(), !p.child.Group); err != nil {
		return err
	}
	return p.child.Release()
}

// guarded lets a program with pins go: as far as what begins it, which is bounded
// when everything was seen to lie where it has to, and then lets the program go.
func (p *process) guarded(ctx context.Context, b *Box) error {
	if err := p.child.Release(); err != nil {
		return err
	}
	guard, err := hold.Meet(ctx, p.child.Pins, p.pins)
	if err != nil {
		return err
	}
	p.guard = guard
	if err := setLimits(guard.Pid(), p.limits, b.Cgroups.Memory(), true); err != nil {
		return err
	}
	return guard.Go()
}

// connect gives the process its input. A file is handed over; anything else is
// copied by a goroutine that nobody waits for, as a Read may never return.
func (p *process) connect(in io.Reader) (feed func(), err error) {
	if f, ok := in.(*os.File); ok || in == nil {
		if f != nil {
			p.child.Cmd.Stdin = f
		}
		return func() {}, nil
	}
	w, err := p.child.Cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connect the program: %w", err)
	}
	return func() {
		go func() {
			_, _ = io.Copy(w, in) // the program may end first
			_ = w.Close()         // it may be closed
		}()
	}, nil
}

// supervise ends the program when it has to end, and takes everything down.
func (p *process) supervise(ctx context.Context) {
	go func() {
		wall := time.NewTimer(p.limits.Wall)
		defer wall.Stop()
		select {
		case <-ctx.Done():
			p.kill("")
		case <-wall.C:
			p.kill(sandbox.LimitWall)
		case <-p.killed:
		case <-p.ended:
		}
	}()
	go p.sweep()
	p.child.Cmd.WaitDelay = drainWithin
	err := p.child.Cmd.Wait()
	<-p.swept
	p.awaitInit()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && !errors.Is(err, exec.ErrWaitDelay) {
		p.err = fmt.Errorf("carry the program's output: %w", err)
	}
	exit, err := p.child.Result(p.child.Cmd.ProcessState)
	p.exit = exit
	if err != nil {
		p.err = errors.Join(p.err, err)
	}
	p.name()
	lost := p.guard.End()
	if p.watch.end() || lost {
		p.err = sandbox.ErrReplaced
	}
	p.watch = nil
	p.giveBack()
	close(p.ended)
}

// sweep ends what the first process leaves behind as soon as that has ended: who
// has its output holds up whoever waits for the program.
func (p *process) sweep() {
	await(p.outer)
	_ = unix.Close(p.outer) // nothing was written
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.init >= 0 {
		_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // it may be gone
	}
	if p.child.Group {
		p.killGroup()
	}
	close(p.swept)
}

// await waits for the end of the process that a descriptor stands for.
func await(pidfd int) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1) //nolint:gosec // a descriptor
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// awaitInit waits until the last process is gone: the first one of a namespace
// ends after all others.
func (p *process) awaitInit() {
	_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // it may be gone
	await(p.init)
	p.mu.Lock()
	_ = unix.Close(p.init) // nothing was written
	p.init = -1
	p.mu.Unlock()
}

// name says which limit ended the program.
func (p *process) name() {
	p.mu.Lock()
	defer p.mu.Unlock()
	memory, processes := p.group.hits()
	switch ok := p.exit.Code == 0; {
	case p.why != "":
		p.exit.Limit = p.why
	case memory && !ok:
		p.exit.Limit = sandbox.LimitMemory
	case p.exit.Signal == "SIGXCPU":
		p.exit.Limit = sandbox.LimitCPU
	case p.exit.Signal == "SIGXFSZ":
		p.exit.Limit = sandbox.LimitFileSize
	case processes && !ok && !p.isKilled:
		p.exit.Limit = sandbox.LimitProcesses
	}
}

// Wait implements sandbox.Process.
func (p *process) Wait() (sandbox.Exit, error) {
	<-p.ended
	return p.exit, p.err
}

// Kill implements sandbox.Process.
func (p *process) Kill() { p.kill("") }

// kill ends everything, because of a limit or because somebody wants it.
func (p *process) kill(limit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isKilled {
		p.isKilled, p.why = true, limit
		close(p.killed)
	}
	if p.init >= 0 {
		_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // it may be gone
	}
	if p.first == nil {
		return
	}
	_ = p.first.Kill() // it may be gone
	if p.child.Group {
		p.killGroup()
	}
}

// killGroup ends the process group and the control group.
func (p *process) killGroup() {
	_ = unix.Kill(-p.first.Pid, unix.SIGKILL) // it may be gone
	p.group.kill()
}

// giveBack takes down what is around the program.
func (p *process) giveBack() {
	if p.watch != nil {
		p.watch.end()
	}
	if p.child != nil && p.child.Pins != nil {
		_ = p.child.Pins.Close() // it may be closed
	}
	if p.group != nil {
		p.group.remove()
	}
	if p.release != nil {
		p.release()
	}
}

// ExitOf is how a process ended that was the program itself.
func ExitOf(state *os.ProcessState) sandbox.Exit {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return sandbox.Exit{Code: -1, Signal: unix.SignalName(ws.Signal())}
	}
	return sandbox.Exit{Code: state.ExitCode()}
}
