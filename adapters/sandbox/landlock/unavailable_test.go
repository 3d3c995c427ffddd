//go:build linux

package landlock_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
)

func TestSB8NoLandlockRunsNothing(t *testing.T) {
	s := landlock.New(landlock.Options{ABI: func() int { return 0 }})
	if err := s.Check(t.Context()); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "no Landlock") {
		t.Errorf("check = %v, want that there is no Landlock", err)
	}
	dir := t.TempDir()
	spec := sandbox.Spec{Argv: []string{"touch", "ran"}, Dir: dir, Writable: []string{dir}}
	if _, err := s.Start(t.Context(), spec); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("start = %v, want ErrUnavailable", err)
	}
}
