package host

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/config"
)

// checkedSandbox is a sandbox that can be tried before it is trusted.
type checkedSandbox interface {
	sandbox.Sandbox
	// Check tries whether it contains a program. Errors wrap sandbox.ErrUnavailable.
	Check(ctx context.Context) error
	// Bounds says whether memory and processes of a program are bounded as a whole.
	Bounds() (memory, processes bool)
}

// Sandbox is what contains commands and servers of tools, as the settings want
// it. Nothing is started and nothing is tried before the first program: a start
// of the host costs nothing. It is safe for concurrent use.
type Sandbox struct {
	setting string
	choices []func() checkedSandbox

	mu     sync.Mutex
	chosen checkedSandbox // nil: none was found yet
}

// NewSandbox makes it for a value of permissions.exec.sandbox.
func NewSandbox(setting string) *Sandbox {
	return &Sandbox{setting: setting, choices: sandboxes(setting)}
}

// Known says that there is one for this system and setting at all, whether or not it
// works here.
func (s *Sandbox) Known() bool { return len(s.choices) > 0 }

// Name implements sandbox.Sandbox: the setting, until one was chosen.
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

// Start implements sandbox.Sandbox. Without a sandbox that was seen to contain a
// program, nothing runs.
func (s *Sandbox) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Process, error) {
	box, err := s.choose(ctx)
	if err != nil {
		return nil, err
	}
	return box.Start(ctx, spec)
}

// Check chooses, and says what programs are not bounded in as a whole.
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

// choose takes the first one that contains a probe. A failure is not kept: what
// is missing may have been installed meanwhile.
func (s *Sandbox) choose(ctx context.Context) (checkedSandbox, error) {
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
