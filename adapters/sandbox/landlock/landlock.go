//go:build linux

package landlock

import (
	"context"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/jail"
)

// Options are for tests; hosts use the zero value.
type Options struct {
	// ABI returns the kernel's version of Landlock; by default the kernel is asked.
	ABI func() int
	// Step is called at the steps of starting a program with pins.
	Step func(step, name string)
}

// New makes the sandbox without starting anything. Check tests whether it works. The program must call reexec.Main
// before anything else.
func New(o Options) *Sandbox {
	if o.ABI == nil {
		o.ABI = box.ABI
	}
	s := &Sandbox{abi: o.ABI()}
	s.Box = &box.Box{Build: s.build, Cgroups: box.FindCgroups(), ABI: s.abi, Step: o.Step}
	return s
}

// Sandbox implements sandbox.Sandbox.
type Sandbox struct {
	*box.Box

	abi int
}

// Name implements sandbox.Sandbox.
func (s *Sandbox) Name() string { return "landlock" }

// Check tests whether it contains a program. Its errors wrap sandbox.ErrUnavailable.
func (s *Sandbox) Check(ctx context.Context) error { return box.Check(ctx, s) }

func (s *Sandbox) build(spec sandbox.Spec, l sandbox.Limits, plan *box.Plan) (*box.Child, error) {
	if s.abi < 1 {
		return nil, fmt.Errorf("%w: the kernel has no Landlock, or it is switched off (see /sys/kernel/security/lsm)", sandbox.ErrUnavailable)
	}
	return jail.Child(spec, l, plan, s.abi)
}
