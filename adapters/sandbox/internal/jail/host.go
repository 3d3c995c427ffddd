//go:build linux

package jail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
)

// Name is the process's name, by which Main recognizes it.
const Name = "sma-sandbox"

// config is what the host sends to the process.
type config struct {
	Plan    *box.Plan // nil for no isolation: the process becomes the program
	Argv    []string
	Env     []string
	Dir     string
	Network bool
	TmpSize int64
	ABI     int
}

// status is one message from the process to the host.
type status struct {
	Ready  bool   `json:"ready,omitempty"`
	Error  string `json:"error,omitempty"`
	Ended  bool   `json:"ended,omitempty"`
	Code   int    `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
}

// Child prepares the process. With a plan it gets its own namespaces.
func Child(s sandbox.Spec, l sandbox.Limits, plan *box.Plan, abi int) (*box.Child, error) {
	if os.Args[0] == Name {
		return nil, fmt.Errorf("%w: this program does not call reexec.Main first of all", sandbox.ErrUnavailable)
	}
	fromHost, toJail, fromJail, toHost, err := pipes()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{Name}, Dir: "/", ExtraFiles: []*os.File{fromHost, toHost},
		Env:         []string{"GOMAXPROCS=2", "GOGC=off", "GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0"},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if plan != nil {
		isolate(cmd.SysProcAttr, s.Network)
	}
	words := json.NewDecoder(fromJail)
	c := &box.Child{Cmd: cmd, Group: plan == nil}
	pins, err := withPins(c, plan)
	if err != nil {
		closeAll(fromHost, toHost, fromJail, toJail)
		return nil, err
	}
	c.Close = func() {
		_ = pins.Close()     // as below
		_ = fromHost.Close() // the process has its own copies
		_ = toHost.Close()
		if cmd.Process == nil {
			_ = toJail.Close() // nothing was started
			_ = fromJail.Close()
		}
	}
	c.Init = func(ctx context.Context) (int, error) {
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // its death closes the pipe
		defer stop()
		env := append(append([]string{}, s.Env...), "PWD="+s.Dir)
		told := json.NewEncoder(toJail).Encode(config{Plan: plan, Argv: s.Argv, Env: env, Dir: s.Dir, Network: s.Network, TmpSize: l.Memory / 2, ABI: abi})
		var got status
		err := words.Decode(&got)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case got.Error != "":
			return 0, fmt.Errorf("set up the sandbox: %s", got.Error)
		case told != nil || err != nil || !got.Ready:
			return 0, fmt.Errorf("set up the sandbox: its first process ended: %w", errors.Join(told, err))
		}
		return cmd.Process.Pid, nil
	}
	c.Release = func() error {
		_, err := toJail.WriteString("go\n")
		if err = errors.Join(err, toJail.Close()); err != nil {
			return fmt.Errorf("let the program go: %w", err)
		}
		return nil
	}
	c.Result = func(state *os.ProcessState) (sandbox.Exit, error) {
		defer func() { _ = toJail.Close(); _ = fromJail.Close() }() // the exchange is complete
		var got status
		if err := words.Decode(&got); err == nil && got.Ended {
			return sandbox.Exit{Code: got.Code, Signal: got.Signal}, nil
		}
		return box.ExitOf(state), nil
	}
	return c, nil
}

// pipes makes the two pipes between the host and the process.
func pipes() (fromHost, toJail, fromJail, toHost *os.File, err error) {
	if fromHost, toJail, err = os.Pipe(); err != nil {
		return nil, nil, nil, nil, fmt.Errorf("talk to the sandbox: %w", err)
	}
	if fromJail, toHost, err = os.Pipe(); err != nil {
		closeAll(fromHost, toJail)
		return nil, nil, nil, nil, fmt.Errorf("talk to the sandbox: %w", err)
	}
	return fromHost, toJail, fromJail, toHost, nil
}

// closeAll closes files; nil ones are skipped.
func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// withPins gives a process with pins a socket to pass its system calls to the host; there it is the descriptor after
// those of the two pipes.
func withPins(c *box.Child, plan *box.Plan) (inside *os.File, err error) {
	if plan == nil || len(plan.Pins) == 0 {
		return nil, nil
	}
	if err := hold.Available(); err != nil {
		return nil, err
	}
	if c.Pins, inside, err = hold.Pair(); err != nil {
		return nil, err
	}
	c.Cmd.ExtraFiles = append(c.Cmd.ExtraFiles, inside)
	return inside, nil
}

// isolate gives the process its own namespaces. In the user namespace it keeps its user id and has all capabilities
// over the other namespaces.
func isolate(a *syscall.SysProcAttr, network bool) {
	a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP
	if !network {
		a.Cloneflags |= syscall.CLONE_NEWNET
	}
	// Otherwise users other than the machine's root would lose them on exec.
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}
