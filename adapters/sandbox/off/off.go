//go:build linux

package off

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/jail"
)

// New makes the sandbox. The program must call reexec.Main before anything else.
func New() *Sandbox {
	s := &Sandbox{}
	s.Box = &box.Box{Build: s.build, Cgroups: box.FindCgroups(), Bare: true}
	return s
}

// Sandbox implements sandbox.Sandbox.
type Sandbox struct{ *box.Box }

// Name implements sandbox.Sandbox.
func (s *Sandbox) Name() string { return "off" }

// Check always succeeds, because nothing is promised.
func (s *Sandbox) Check(context.Context) error { return nil }

// Bounds reports whether the memory and the processes of a program are limited as a whole.
func (s *Sandbox) Bounds() (memory, processes bool) {
	return s.Cgroups.Memory(), s.Cgroups.Pids()
}

func (s *Sandbox) build(spec sandbox.Spec, l sandbox.Limits, _ *box.Plan) (*box.Child, error) {
	for _, pin := range spec.Pinned {
		if data, err := os.ReadFile(pin.Path); err != nil || !bytes.Equal(data, pin.Data) {
			return nil, fmt.Errorf("%s: %w", pin.Path, sandbox.ErrReplaced)
		}
	}
	c, err := jail.Child(spec, l, nil, 0)
	if err == nil {
		c.Cmd.WaitDelay = 2 * time.Second // processes that left the group may keep the output open
	}
	return c, err
}
