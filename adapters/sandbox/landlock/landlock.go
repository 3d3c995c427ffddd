//go:build linux

package landlock

import (
	"context"
	"fmt"
	"os"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/jail"
)

// Options are for tests; the zero value is what hosts want.
type Options struct {
	// ABI is the kernel's version of Landlock; nil: it is asked.
	ABI func() int
	// Step is told where a program with pins is.
	Step func(step, name string)
}

// New makes the sandbox. It starts nothing; whether it contains anything, Check
// says. The program has to call reexec.Main first of all.
func New(o Options) *Sandbox {
	if o.ABI == nil {
		o.ABI = box.ABI
	}
	s := &Sandbox{abi: o.ABI()}
	s.box = &box.Box{Build: s.build, Cgroups: box.FindCgroups(), ABI: s.abi, Step: o.Step}
	return s
}

// Sandbox implements sandbox.Sandbox.
type Sandbox struct {
	abi int
	box *box.Box
}

// Name implements sandbox.Sandbox.
func (s *Sandbox) Name() string { return "landlock" }

// Start implements sandbox.Sandbox.
func (s *Sandbox) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Process, error) {
	return s.box.Start(ctx, spec)
}

// Check tries whether it contains a program. Errors wrap sandbox.ErrUnavailable.
func (s *Sandbox) Check(ctx context.Context) error { return box.Check(ctx, s) }

// Bounds says what bounds the memory and the processes of a program as a whole.
func (s *Sandbox) Bounds() (memory, processes bool) {
	return s.box.Cgroups.Memory(), s.box.Cgroups.Pids() || os.Getuid() != 0
}

func (s *Sandbox) build(spec sandbox.Spec, l sandbox.Limits, plan *box.Plan) (*box.Child, error) {
	if s.abi < 1 {
		return nil, fmt.Errorf("%w: the kernel has no Landlock, or it is switched off (see /sys/kernel/security/lsm)", sandbox.ErrUnavailable)
	}
	return jail.Child(spec, l, plan, s.abi)
}
