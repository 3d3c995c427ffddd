package sandboxes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// fakeSandbox passes its check or not, and counts starts.
type fakeSandbox struct {
	name   string
	broken error
	starts int
}

func (f *fakeSandbox) Name() string                { return f.name }
func (f *fakeSandbox) Check(context.Context) error { return f.broken }
func (f *fakeSandbox) Bounds() (memory, processes bool) {
	return true, false
}

func (f *fakeSandbox) Replace(_ string, do func() error) error {
	f.starts--
	return do()
}

func (f *fakeSandbox) Start(context.Context, sandbox.Spec) (sandbox.Process, error) {
	f.starts++
	return nil, nil
}

func TestSB8SandboxIsChosenOrNothingRuns(t *testing.T) {
	missing := func(what string) error { return fmt.Errorf("%w: %s", sandbox.ErrUnavailable, what) }
	first := &fakeSandbox{name: "first", broken: missing("no bwrap")}
	second := &fakeSandbox{name: "second", broken: missing("ABI 0")}
	s := &Sandbox{setting: "auto", choices: []func() checked{func() checked { return first }, func() checked { return second }}}
	if _, err := s.Start(t.Context(), sandbox.Spec{}); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "no bwrap") || !strings.Contains(err.Error(), "ABI 0") {
		t.Errorf("without a sandbox: %v, want both reasons", err)
	}
	if first.starts+second.starts != 0 {
		t.Error("something was started without a sandbox")
	}
	if got := s.Name(); got != "auto" {
		t.Errorf("name = %q, want the setting", got)
	}
	second.broken = nil
	if _, err := s.Start(t.Context(), sandbox.Spec{}); err != nil || second.starts != 1 {
		t.Errorf("with the second: %v, %d starts", err, second.starts)
	}
	first.broken = nil
	name, unbounded, err := s.Check(t.Context())
	if name != "second" || !slices.Equal(unbounded, []string{"processes"}) || err != nil || s.Name() != "second" {
		t.Errorf("check = %q, %q, %v; want the one chosen", name, unbounded, err)
	}
	if err := s.Replace("/x", func() error { return errors.New("done") }); err == nil || err.Error() != "done" || second.starts != 0 {
		t.Errorf("replace: %v, %d; want what was done, by the one chosen", err, second.starts)
	}
	none := &Sandbox{setting: "auto"}
	if err := none.Replace("/x", func() error { return nil }); err != nil {
		t.Errorf("replace while nothing runs: %v", err)
	}
	if _, err := none.Start(t.Context(), sandbox.Spec{}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("on a system without any: %v", err)
	}
	if got := New("off").Name(); got != "off" {
		t.Errorf("name of none = %q, want off", got)
	}
}
