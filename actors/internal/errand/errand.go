// Package errand is the life of an actor that does one thing for its chat beside a
// run, answers once and is stopped by the chat then: a deadline, slow work in
// goroutines that end with the actor, a slot of the model gate for what asks the
// model, and one answer. What the thing is, is the actor's business.
//
// An [Errand] belongs to its actor alone. What fails, panics or takes too long comes
// home as [Failed]; after the answer nothing of it counts any more, see
// [Errand.Over].
package errand

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Failed comes home: the work under way came to nothing.
type Failed struct{ Why string }

// Work is slow: what it returns comes home, an error of it as [Failed].
type Work func(ctx context.Context) (any, error)

// Errand is what the actor embeds. Its zero value is ready.
type Errand struct {
	home pipe.Home
	chat *actor.PID
	gate *actor.PID
	key  messages.ChatKey
	id   string
	next Work // what the slot is for

	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc
	alarm  *time.Timer
	asked  bool // for a slot
	over   bool // it has answered
}

// Start is for the actor's start. Its chat is its parent.
func (e *Errand) Start(ac actor.Context, gate *actor.PID) {
	e.home, e.chat, e.gate = pipe.NewHome(ac), ac.Parent(), gate
	e.ctx, e.cancel = context.WithCancel(context.Background())
}

// Stop is for the actor's stop, and its restart.
func (e *Errand) Stop(ac actor.Context) { e.end(ac) }

func (e *Errand) end(ac actor.Context) {
	e.over = true
	e.cancel()
	if e.alarm != nil {
		e.alarm.Stop()
	}
	e.Release(ac)
}

// Begin takes the order, which has an id of its own, and sets the deadline. It is
// false for an order after the first.
func (e *Errand) Begin(key messages.ChatKey, id string, deadline time.Duration) bool {
	if e.id != "" {
		return false
	}
	e.key, e.id = key, id
	e.alarm = e.home.After(deadline, Failed{"the deadline has passed"})
	return true
}

// Over reports that the errand is answered: what comes home now is late.
func (e *Errand) Over() bool { return e.over }

// Beside runs slow work.
func (e *Errand) Beside(work Work) {
	ctx := e.ctx
	e.home.Go(func() any {
		done, err := work(ctx)
		if err != nil {
			return Failed{err.Error()}
		}
		return done
	}, func(p pipe.Panicked) any { return Failed{p.Error()} })
}

// Acquire runs slow work that asks the model, once the gate lets it.
func (e *Errand) Acquire(ac actor.Context, work Work) {
	e.next, e.asked = work, true
	ac.Request(e.gate, messages.AcquireSlot{ChatKey: e.key, RunID: e.id})
}

// Granted is for the gate's answer.
func (e *Errand) Granted() {
	if !e.over && e.next != nil {
		e.Beside(e.next)
		e.next = nil
	}
}

// Release gives the slot back, or the place in the line.
func (e *Errand) Release(ac actor.Context) {
	if e.asked {
		e.asked = false
		ac.Request(e.gate, messages.ReleaseSlot{RunID: e.id})
	}
}

// Answer ends the errand. The chat stops the actor: its end would be heard before
// its answer.
func (e *Errand) Answer(ac actor.Context, done any) {
	e.end(ac)
	ac.Request(e.chat, done)
}
