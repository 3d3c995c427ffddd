package cli

import (
	"context"
	"os"
	"sync/atomic"
)

// signals turns what the system says into what commands hear. The first signal
// ends the context, with a [Signal] as its cause; the second ends the process at
// once, which loses nothing that was accepted. A command may take Ctrl-C itself.
type signals struct {
	taken atomic.Pointer[chan os.Signal]
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
			if _, ok := <-in; ok && exit != nil {
				exit(CodeInterrupted)
			}
			return
		case sig, ok := <-in:
			switch {
			case !ok:
				return
			case sig == os.Interrupt && s.hand(sig):
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
