// Package supervise is how an actor supervises children that the host needs: one that panics is
// restarted alone, first at once and then after waits that double. If that does not help, the
// supervisor gives up.
package supervise

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
)

// window is longer than all waits together, so that a child which panics right after
// every restart reaches the limit.
const window = time.Minute

// Strategy restarts children with a backoff. A child that waits for its restart, or that was given
// up, handles no messages; they wait in its mailbox.
type Strategy struct {
	// Most is how many panics of a child within a minute lead to a restart.
	Most int
	// GiveUp is called with the next panic after those. The child stays suspended.
	GiveUp func(to actor.Supervisor, child *actor.PID, reason, message any)
}

// HandleFailure implements [actor.SupervisorStrategy].
func (s Strategy) HandleFailure(system *actor.ActorSystem, to actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, message any) {
	system.EventStream.Publish(&actor.SupervisorEvent{Child: child, Reason: reason, Directive: actor.RestartDirective})
	rs.Fail()
	switch failures := rs.NumberOfFailures(window); {
	case failures > s.Most:
		s.GiveUp(to, child, reason, message)
	case failures == 1:
		to.RestartChildren(child)
	default:
		waits := backoff.Exponential{First: 250 * time.Millisecond, Longest: 5 * time.Second}
		time.AfterFunc(waits.Wait(failures-2), func() { to.RestartChildren(child) })
	}
}
