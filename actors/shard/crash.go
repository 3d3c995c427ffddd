package shard

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
)

const (
	// parkAfter is how many crashes in a row park a chat.
	parkAfter = 6
	// parkFor is how long a parked chat rests before it is restarted.
	parkFor = 10 * time.Minute
	// calm is how long a chat must have worked for its crashes to be forgotten.
	calm = 5 * time.Minute
)

// crash is what a shard records about a chat's panics.
type crash struct {
	down   bool // the chat waits for its restart, and letters wait for it
	parked bool // the chat waits for parkFor
	count  int  // in a row
	up     time.Time
	timer  *time.Timer // nil while it is not down
}

// next notes a panic and returns the wait before the restart.
func (c *crash) next(now time.Time) time.Duration {
	if now.Sub(c.up) > calm {
		c.count = 0
	}
	c.count++
	c.down, c.parked = true, c.count >= parkAfter
	switch {
	case c.parked:
		return parkFor
	case c.count == 1:
		return 0
	default: // the first restart happens at once, the waits before the next ones double
		return backoff.Exponential{First: time.Second, Longest: parkFor}.Wait(c.count - 2)
	}
}

// revived notes the restart.
func (c *crash) revived(now time.Time) {
	c.down, c.parked, c.up, c.timer = false, false, now, nil
}

// revive reports that a chat has waited long enough since a crash.
type revive struct {
	id    string
	count int
}

// HandleFailure implements [actor.SupervisorStrategy]; the library calls it like Receive. The chat
// that panicked keeps its mailbox and is restarted, after a growing wait.
func (s *shard) HandleFailure(system *actor.ActorSystem, to actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	e := s.table.byPID[child.Id]
	if e == nil { // Unreachable: only children can fail here
		to.StopChildren(child)
		return
	}
	system.EventStream.Publish(&actor.SupervisorEvent{Child: child, Reason: reason, Directive: actor.RestartDirective})
	s.parent = to
	if e.crash.timer != nil {
		e.crash.timer.Stop() // it panicked again while it waited
	}
	if s.closing || e.leaving { // its journal has everything that matters
		s.leave(e, to)
		return
	}
	e.asked = ""
	was := e.crash.parked
	wait := e.crash.next(time.Now())
	if e.crash.parked && !was {
		s.opts.Metrics.park(1)
		system.Logger().Error("a chat panics repeatedly; it accepts no messages for a while",
			"chat_key", string(e.key), "panics", e.crash.count, "minutes", wait.Minutes(), "kind", fmt.Sprintf("%T", reason))
	}
	s.settled(e)
	if wait == 0 {
		s.revive(e)
		return
	}
	s.load()
	e.crash.timer = s.home.After(wait, revive{e.pid.Id, e.crash.count})
}

// leave ends a chat that panicked while it was ending. A chat that panicked while stopping would
// never terminate, so it is restarted to end properly.
func (s *shard) leave(e *entry, to actor.Supervisor) {
	e.leaving = true
	if e.crash.count++; e.crash.count > parkAfter {
		return // it cannot be ended; all attempts failed
	}
	to.RestartChildren(e.pid)
	to.StopChildren(e.pid)
}

func (s *shard) onRevive(msg revive) {
	if e := s.table.byPID[msg.id]; e != nil && e.crash.count == msg.count {
		s.revive(e)
	}
}

// revive restarts a chat that panicked and delivers the letters that waited for it.
func (s *shard) revive(e *entry) {
	if !e.crash.down || e.leaving {
		return
	}
	if e.crash.parked {
		s.opts.Metrics.park(-1)
	}
	if e.crash.timer != nil {
		e.crash.timer.Stop()
	}
	e.crash.revived(time.Now())
	s.opts.Metrics.restarted()
	s.parent.RestartChildren(e.pid)
	s.flush(e)
	s.load()
}
