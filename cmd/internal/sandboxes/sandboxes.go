// Package sandboxes chooses the sandbox that contains commands and MCP servers. It promises that nothing is started
// unless a sandbox has passed its test, or the settings switch sandboxes off.
package sandboxes

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/config"
)

// checked is a sandbox that can be tested before use.
type checked interface {
	sandbox.Sandbox
	// Check tests whether it contains a program. Its errors wrap sandbox.ErrUnavailable.
	Check(ctx context.Context) error
	// Bounds reports whether the memory and the number of processes of a program are limited as a whole.
	Bounds() (memory, processes bool)
	// Replace calls do, by which another file gets the name of a path, after it has ended the programs that must not
	// change that file: with the name they would lose what keeps it.
	Replace(path string, do func() error) error
}

// Sandbox contains commands and MCP servers, as the settings want it. It starts and tests nothing before the first
// program, so it adds no cost to the start of the host. It is safe for concurrent use.
type Sandbox struct {
	setting string
	choices []func() checked

	mu     sync.Mutex
	chosen checked // nil until one was chosen
}

// New makes the sandbox for a value of permissions.exec.sandbox.
func New(setting string) *Sandbox {
	return &Sandbox{setting: setting, choices: choices(setting)}
}

// Known reports whether this system and setting have any sandbox, whether or not it works here.
func (s *Sandbox) Known() bool { return len(s.choices) > 0 }

// Name implements [sandbox.Sandbox]: it returns the setting until a sandbox was chosen.
func (s *Sandbox) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.chosen != nil:
		return s.chosen.Name()
	case s.setting == config.Off:
		return "off"
	default:
		return s.setting
	}
}

// Start implements [sandbox.Sandbox]. It starts nothing unless a sandbox passed its test.
func (s *Sandbox) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Process, error) {
	box, err := s.choose(ctx)
	if err != nil {
		return nil, err
	}
	return box.Start(ctx, spec)
}

// Replace calls do, by which another file gets the name of a path, after it has ended the programs that must not change
// that file.
func (s *Sandbox) Replace(path string, do func() error) error {
	s.mu.Lock()
	box := s.chosen
	if box == nil { // nothing runs, or starts before this returns
		defer s.mu.Unlock()
		return do()
	}
	s.mu.Unlock()
	return box.Replace(path, do)
}

// Check chooses a sandbox, and returns which resources it does not limit as a whole.
func (s *Sandbox) Check(ctx context.Context) (name string, unbounded []string, err error) {
	box, err := s.choose(ctx)
	if err != nil {
		return "", nil, err
	}
	memory, processes := box.Bounds()
	if !memory {
		unbounded = append(unbounded, "memory")
	}
	if !processes {
		unbounded = append(unbounded, "processes")
	}
	return box.Name(), unbounded, nil
}

// choose takes the first sandbox that passes its test. A failure is not cached, because the missing part may be
// installed later.
func (s *Sandbox) choose(ctx context.Context) (checked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chosen != nil {
		return s.chosen, nil
	}
	var failed []error
	for _, make := range s.choices {
		box := make()
		err := box.Check(ctx)
		if err == nil {
			s.chosen = box
			return box, nil
		}
		failed = append(failed, err)
	}
	if len(failed) == 0 {
		return nil, fmt.Errorf("%w: this system has none that is known here", sandbox.ErrUnavailable)
	}
	return nil, errors.Join(failed...)
}
