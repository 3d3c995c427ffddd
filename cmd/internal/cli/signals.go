package cli

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
)

// signals turns what the system says into what commands hear. The first signal
// ends the context, with a [Signal] as its cause; the second ends the process at
// once, which loses nothing that was accepted. A command may take Ctrl-C itself.
// SIGHUP counts where a person sits at a terminal, which is closed then. A service
// is sent it to read its settings again, which a host does by itself, so it continues.
type signals struct {
	taken    atomic.Pointer[chan os.Signal]
	terminal bool
}

// follow acts on signals until ctx ends.
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
					exit(CodeInterrupted)
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
				cancel(Signal{sig})
			}
		}
	}
}

// hand gives a Ctrl-C to the command that asked for them.
func (s *signals) hand(sig os.Signal) bool {
	to := s.taken.Load()
	if to == nil {
		return false
	}
	select {
	case *to <- sig:
	default: // it has enough of them
	}
	return true
}

// take makes Ctrl-C the command's own until release is called.
func (s *signals) take() (in <-chan os.Signal, release func()) {
	to := make(chan os.Signal, 4)
	s.taken.Store(&to)
	return to, func() { s.taken.Store(nil) }
}
