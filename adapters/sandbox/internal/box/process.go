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
	// readyWithin limits the time to set up a sandbox.
	readyWithin = 30 * time.Second
	// endsWithin limits the time until a program has ended that was killed.
	endsWithin = 10 * time.Second
	// drainWithin limits the time to read the rest of the output of a program that has ended.
	drainWithin = 30 * time.Second
)

// Child is a process that an implementation has prepared.
type Child struct {
	// Cmd is not started yet; the box sets its streams.
	Cmd *exec.Cmd
	// Init waits until everything is set up, and returns the blocked process from which all of the program will
	// descend. It is called once, after the start.
	Init func(ctx context.Context) (pid int, err error)
	// Release lets that process run the program. It is called once.
	Release func() error
	// Result is how the program ended. It is called once, after the end of the process.
	Result func(state *os.ProcessState) (sandbox.Exit, error)
	// Close closes what only the start needs. It is always called, immediately after the start.
	Close func()
	// Group says that there is no PID namespace, so processes are killed by their group.
	Group bool
	// Pins is the socket to the process that starts the program, see package hold. It is nil without pins.
	Pins *os.File
}

// Box starts programs. It is safe for concurrent use.
type Box struct {
	// Build prepares a process for a plan.
	Build   func(s sandbox.Spec, l sandbox.Limits, p *Plan) (*Child, error)
	Cgroups Cgroups
	ABI     int  // of Landlock
	Bare    bool // without isolation
	// Step, in tests, is called at the steps of starting a program with pins, see package hold. With it, only the
	// guard kills the program for a change, so that tests can check the guard alone.
	Step   func(step, name string)
	keeper keeper

	starting sync.RWMutex // held by starts together, and by Replace alone
	mu       sync.Mutex
	running  map[*process]*watch
}

// Start starts a program.
func (b *Box) Start(ctx context.Context, s sandbox.Spec) (sandbox.Process, error) {
	if b.Bare {
		if err := checkSpec(s); err != nil {
			return nil, err
		}
		return b.start(ctx, s, &Plan{}, nil)
	}
	plan, release, err := b.keeper.plan(s)
	if err != nil {
		return nil, err
	}
	return b.start(ctx, s, plan, release)
}

// Bounds reports whether the memory and the processes of a program are limited as a whole.
func (b *Box) Bounds() (memory, processes bool) {
	return b.Cgroups.Memory(), b.Cgroups.Pids() || os.Getuid() != 0
}

// start starts a program with a plan.
func (b *Box) start(ctx context.Context, s sandbox.Spec, plan *Plan, release func()) (_ *process, err error) {
	p := &process{init: -1, outer: -1, limits: withDefaults(s.Limits), ended: make(chan struct{}), killed: make(chan struct{}), release: release}
	defer func() {
		if err != nil {
			p.giveBack()
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.starting.RLock()
	defer b.starting.RUnlock()
	if p.watch, err = newWatch(plan); err != nil {
		return nil, err
	}
	for _, path := range plan.absent {
		if _, err := os.Lstat(path); err == nil { // made before it was watched
			return nil, fmt.Errorf("%w: %s", sandbox.ErrReplaced, path)
		}
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
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		b.running = map[*process]*watch{}
	}
	b.running[p] = p.watch
	go func() {
		p.supervise(ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, p)
	}()
	return p, nil
}

// Replace calls do, by which another file gets the name of a path. The kernel then removes what is mounted on that name,
// so the programs that depend on it are ended before, and none is started meanwhile.
func (b *Box) Replace(path string, do func() error) error {
	b.starting.Lock()
	defer b.starting.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, w := range b.running {
		if !w.lose(path) {
			continue
		}
		late := time.NewTimer(endsWithin)
		defer late.Stop()
		select {
		case <-p.ended:
		case <-late.C:
			return fmt.Errorf("a program that must not change %s does not end", path)
		}
	}
	return do()
}

// process is a program that was started.
type process struct {
	child   *Child
	limits  sandbox.Limits
	group   *group
	watch   *watch
	guard   *hold.Guard // nil without pins
	pins    hold.Watch
	release func()

	mu       sync.Mutex
	first    *os.Process // nil until it is set up, and must not be killed before
	init     int         // pidfd of the ancestor of all processes, or -1
	why      string      // the limit that ended it
	isKilled bool

	outer  int           // pidfd of the first process, for sweep only
	killed chan struct{} // closed by the first kill
	ended  chan struct{} // closed when everything has ended

	exit sandbox.Exit // valid after ended is closed
	err  error
}

// begin starts the process, limits it and releases it.
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
		_ = cmd.Process.Kill() // it may have ended
		p.group.kill()
		cmd.WaitDelay = time.Second // unknown processes may keep the output open
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

// bound limits the blocked process and releases it.
func (p *process) bound(ctx context.Context, b *Box) error {
	// Join the group first, so that the process can be found there if it gets lost.
	if err := p.group.add(p.child.Cmd.Process.Pid); err != nil {
		return err
	}
	// Do not interrupt this: a process that dies during the setup may leave others behind that are unknown.
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
		return sandbox.ErrReplaced // nothing else can have killed it yet
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

// guarded releases a program with pins up to its starter. The starter is limited once all pins were found in place,
// and then executes the program.
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

// connect connects the input of the process. A file is passed on directly; another reader is copied by a goroutine
// that is not waited for, since a Read may block forever.
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
			_ = w.Close()         // it may be closed already
		}()
	}, nil
}

// supervise kills the program when it has to end, waits for it and cleans up.
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
	p.sweep()
	p.child.Cmd.WaitDelay = drainWithin
	err := p.child.Cmd.Wait()
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

// sweep kills what is left as soon as the first process has ended, since processes that keep the output open would
// block Wait. Until Wait, no other process can have its number; afterwards nothing is killed by it.
func (p *process) sweep() {
	await(p.outer)
	_ = unix.Close(p.outer) // nothing was written
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.init >= 0 {
		_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // it may have ended
	}
	if p.child.Group {
		p.killGroup()
	}
	p.first = nil
}

// await waits until the process of a pidfd has ended.
func await(pidfd int) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1) //nolint:gosec // a descriptor
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// awaitInit waits until the last process has ended: the first process of a namespace ends after all others.
func (p *process) awaitInit() {
	_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // it may have ended
	await(p.init)
	p.mu.Lock()
	_ = unix.Close(p.init) // nothing was written
	p.init = -1
	p.mu.Unlock()
}

// name sets the limit that ended the program.
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

func (p *process) Wait() (sandbox.Exit, error) {
	<-p.ended
	return p.exit, p.err
}

func (p *process) Kill() { p.kill("") }

// kill kills everything, because of a limit or on request.
func (p *process) kill(limit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isKilled {
		p.isKilled, p.why = true, limit
		close(p.killed)
	}
	if p.init >= 0 {
		_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // it may have ended
	}
	if p.first == nil {
		return
	}
	_ = p.first.Kill() // it may have ended
	if p.child.Group {
		p.killGroup()
	}
}

// killGroup kills the process group and the control group.
func (p *process) killGroup() {
	_ = unix.Kill(-p.first.Pid, unix.SIGKILL) // it may have ended
	p.group.kill()
}

// giveBack releases the resources of the program.
func (p *process) giveBack() {
	if p.watch != nil {
		p.watch.end()
	}
	if p.child != nil && p.child.Pins != nil {
		_ = p.child.Pins.Close() // it may be closed already
	}
	if p.group != nil {
		p.group.remove()
	}
	if p.release != nil {
		p.release()
	}
}

// ExitOf is the exit of a process that was the program itself.
func ExitOf(state *os.ProcessState) sandbox.Exit {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return sandbox.Exit{Code: -1, Signal: unix.SignalName(ws.Signal())}
	}
	return sandbox.Exit{Code: state.ExitCode()}
}
