package cli

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

// signals handles the signals of the system. The first one cancels the context, with a [Signal] as the cause; the
// second one exits at once, which loses nothing that was accepted. A command may handle Ctrl-C itself. SIGHUP is
// handled on a terminal, where it means that the terminal was closed. A service gets it as a request to reload its
// settings, which a host does by itself, so there it is ignored.
type signals struct {
	taken    atomic.Pointer[chan os.Signal]
	terminal bool
}

// follow handles signals until ctx ends.
func (s *signals) follow(ctx context.Context, in <-chan os.Signal, cancel context.CancelCauseFunc, exit func(int)) {
	asked := false
	for {
		select {
		case <-ctx.Done():
			if !asked {
				return
			}
			for sig := range in {
				if sig != syscall.SIGHUP && exit != nil {
					exit(console.CodeInterrupted)
					return
				}
			}
			return
		case sig, ok := <-in:
			switch {
			case !ok:
				return
			case sig == os.Interrupt && s.hand(sig), sig == syscall.SIGHUP && !s.terminal:
			default:
				asked = true
				cancel(console.Signal{Signal: sig})
			}
		}
	}
}

// hand passes a Ctrl-C to the command that takes them.
func (s *signals) hand(sig os.Signal) bool {
	to := s.taken.Load()
	if to == nil {
		return false
	}
	select {
	case *to <- sig:
	default: // the command has not handled the earlier ones yet
	}
	return true
}

// take passes Ctrl-C to the command until release is called.
func (s *signals) take() (in <-chan os.Signal, release func()) {
	to := make(chan os.Signal, 4)
	s.taken.Store(&to)
	return to, func() { s.taken.Store(nil) }
}
