//go:build linux

package bubblewrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/jail"
)

// Options configure the sandbox.
type Options struct {
	Path string // of bwrap; defaults to a search in the PATH
	// Step, in tests, is called at the steps of starting a program with pins.
	Step func(step, name string)
}

// New makes the sandbox without starting anything. Check tests whether it works. The program must call reexec.Main
// before anything else.
func New(o Options) *Sandbox {
	s := &Sandbox{path: o.Path}
	s.Box = &box.Box{Build: s.build, Cgroups: box.FindCgroups(), ABI: box.ABI(), Step: o.Step}
	return s
}

// Sandbox implements sandbox.Sandbox.
type Sandbox struct {
	*box.Box

	path string
}

// Name implements sandbox.Sandbox.
func (s *Sandbox) Name() string { return "bubblewrap" }

// Check tests whether it contains a program. Its errors wrap sandbox.ErrUnavailable.
func (s *Sandbox) Check(ctx context.Context) error { return box.Check(ctx, s) }

// build prepares bwrap.
func (s *Sandbox) build(spec sandbox.Spec, l sandbox.Limits, plan *box.Plan) (_ *box.Child, err error) {
	path := s.path
	if path == "" {
		if path, err = exec.LookPath("bwrap"); err != nil {
			return nil, fmt.Errorf("%w: bwrap is not installed", sandbox.ErrUnavailable)
		}
	}
	f := &files{}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	var fromBwrap, toHost *os.File
	if fromBwrap, toHost, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("talk to bwrap: %w", err)
	}
	statusFD := f.add(toHost)
	gate, err := newGate()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hold bwrap: %w", err), fromBwrap.Close())
	}
	blockFD := f.add(gate)
	args, err := arguments(spec, l, plan, f)
	if err != nil {
		return nil, errors.Join(err, fromBwrap.Close())
	}
	args = append([]string{"--json-status-fd", statusFD, "--block-fd", blockFD}, args...)
	argsFD, err := f.data(joined(args))
	if err != nil {
		return nil, errors.Join(err, fromBwrap.Close())
	}
	child := &box.Child{}
	argv, err := withPins(child, plan, spec.Argv, f)
	if err != nil {
		return nil, errors.Join(err, fromBwrap.Close())
	}
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{"bwrap", "--args", argsFD, "--"}, argv...), Dir: "/", Env: []string{}, ExtraFiles: f.open,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	r := &report{cmd: cmd, from: fromBwrap, words: json.NewDecoder(fromBwrap), gate: gate, files: f}
	child.Cmd, child.Init, child.Release, child.Result, child.Close = cmd, r.init, r.release, r.result, r.started
	return child, nil
}

// withPins is the command that bwrap runs: the program, or, if it has pins, the host's own binary, which passes its
// system calls to the host and then executes the program. That binary is not visible in the sandbox.
func withPins(child *box.Child, plan *box.Plan, argv []string, f *files) ([]string, error) {
	if len(plan.Pins) == 0 {
		return argv, nil
	}
	if len(os.Args) > 1 && os.Args[1] == jail.Starter {
		return nil, fmt.Errorf("%w: this program does not call reexec.Main first of all", sandbox.ErrUnavailable)
	}
	if err := hold.Available(); err != nil {
		return nil, err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("start a program with pins: %w", err)
	}
	starter := f.add(self)
	host, inside, err := hold.Pair()
	if err != nil {
		return nil, err
	}
	child.Pins = host
	return append([]string{"/proc/self/fd/" + starter, jail.Starter, f.add(inside)}, argv...), nil
}

// newGate is what bwrap waits at: a pipe with both ends in one descriptor, so that no end is closed, which would
// release the program, when the host dies. An event descriptor does not work, because bwrap reads a single byte, and
// such a read fails at once.
func newGate() (*os.File, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	both, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", ends[0]), unix.O_RDWR|unix.O_CLOEXEC, 0)
	_, _ = unix.Close(ends[0]), unix.Close(ends[1]) // nothing was written
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	return os.NewFile(uintptr(both), "gate"), nil
}

// report reads what bwrap reports about itself.
type report struct {
	cmd   *exec.Cmd
	from  *os.File
	words *json.Decoder
	gate  *os.File
	files *files
}

// line is one document of bwrap's status.
type line struct {
	Pid  int  `json:"child-pid"`
	Code *int `json:"exit-code"`
}

// started closes the files that bwrap has inherited.
func (r *report) started() {
	if r.cmd.Process == nil {
		_ = r.from.Close() // nothing was started
		r.files.close()
		return
	}
	r.files.closeBut(r.gate)
}

func (r *report) init(ctx context.Context) (int, error) {
	stop := context.AfterFunc(ctx, func() { _ = r.cmd.Process.Kill() }) // its death closes the pipe
	defer stop()
	var got line
	err := r.words.Decode(&got)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil || got.Pid == 0 {
		return 0, fmt.Errorf("bwrap did not start: %w", err)
	}
	return got.Pid, nil
}

func (r *report) release() error { return errors.Join(r.open(), r.gate.Close()) }

// open releases the process that waits at the gate.
func (r *report) open() error {
	if _, err := r.gate.Write([]byte{1}); err != nil {
		return fmt.Errorf("let the program go: %w", err)
	}
	return nil
}

// result is how the program ended. Bwrap reports that only if the program has started; signals are encoded in the
// exit code like in a shell.
func (r *report) result(state *os.ProcessState) (sandbox.Exit, error) {
	_ = r.gate.Close() // it may be closed already
	defer func() { _ = r.from.Close() }()
	for {
		var got line
		err := r.words.Decode(&got)
		if errors.Is(err, io.EOF) || err != nil {
			break
		}
		if got.Code == nil {
			continue
		}
		if name := unix.SignalName(syscall.Signal(*got.Code - 128)); *got.Code > 128 && name != "" {
			return sandbox.Exit{Code: -1, Signal: name}, nil
		}
		return sandbox.Exit{Code: *got.Code}, nil
	}
	exit := box.ExitOf(state)
	if exit.Code == 1 {
		exit.Code = 127 // bwrap has written the reason to stderr
	}
	return exit, nil
}

// files are the files that bwrap inherits.
type files struct{ open []*os.File }

// add passes a file to bwrap and returns its descriptor number there.
func (f *files) add(file *os.File) string {
	f.open = append(f.open, file)
	return strconv.Itoa(2 + len(f.open))
}

// data passes bytes to bwrap.
func (f *files) data(b []byte) (string, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return "", os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "data")
	number := f.add(file)
	if _, err := file.Write(b); err != nil {
		return "", fmt.Errorf("hand data to bwrap: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("hand data to bwrap: %w", err)
	}
	return number, nil
}

// path passes an open folder or file to bwrap.
func (f *files) path(b box.Bind) (string, error) {
	file, err := box.Open(b)
	if err != nil {
		return "", err
	}
	return f.add(file), nil
}

func (f *files) close() { f.closeBut(nil) }

func (f *files) closeBut(keep *os.File) {
	for _, file := range f.open {
		if file != keep {
			_ = file.Close() // bwrap has its own descriptor
		}
	}
}
