// Package errand is the common part of an actor that does one thing for its chat apart from a run,
// answers once and is then stopped by the chat: a deadline, slow work in goroutines that end with
// the actor, a slot of the model gate for work that asks the model, and one answer.
//
// An [Errand] belongs to its actor alone. The result of work arrives as a message, and an error, a
// panic or a timeout as [Failed]. Nothing arrives after the answer.
package errand

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Failed reports that the current work failed.
type Failed struct{ Why string }

// result carries the result of work, or [Failed], to the actor.
type result struct{ value any }

// Work is slow work: the actor receives its result as a message, or an error as [Failed].
type Work func(ctx context.Context) (any, error)

// Errand is embedded by the actor. Its zero value is ready.
type Errand struct {
	home pipe.Home
	chat *actor.PID
	gate *actor.PID
	key  messages.ChatKey
	id   string
	next Work // the work that waits for the slot

	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc
	alarm  *time.Timer
	asked  bool // for a slot
	over   bool // it has answered
}

// Receive handles what all errands receive, and returns what is left to the actor: its orders and
// the results of its work. It returns nil if nothing is left. The actor's parent is its chat.
func (e *Errand) Receive(ac actor.Context, gate *actor.PID) any {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		e.home, e.chat, e.gate = pipe.NewHome(ac), ac.Parent(), gate
		e.ctx, e.cancel = context.WithCancel(context.Background())
	case *actor.Stopping, *actor.Restarting:
		e.end(ac)
	case messages.SlotGranted:
		e.granted()
	case result:
		if !e.over {
			return msg.value
		}
	default:
		return msg
	}
	return nil
}

func (e *Errand) end(ac actor.Context) {
	e.over = true
	e.cancel()
	if e.alarm != nil {
		e.alarm.Stop()
	}
	e.Release(ac)
}

// Begin accepts the order, which has an id of its own, and sets the deadline. It returns false for
// any order after the first.
func (e *Errand) Begin(key messages.ChatKey, id string, deadline time.Duration) bool {
	if e.id != "" {
		return false
	}
	e.key, e.id = key, id
	e.alarm = e.home.After(deadline, result{Failed{"the deadline has passed"}})
	return true
}

// Go runs slow work in a goroutine.
func (e *Errand) Go(work Work) {
	ctx := e.ctx
	e.home.Go(func() any {
		done, err := work(ctx)
		if err != nil {
			return result{Failed{err.Error()}}
		}
		return result{done}
	}, func(p pipe.Panicked) any { return result{Failed{p.Error()}} })
}

// Acquire runs slow work that asks the model, once the gate grants a slot.
func (e *Errand) Acquire(ac actor.Context, work Work) {
	e.next, e.asked = work, true
	ac.Request(e.gate, messages.AcquireSlot{ChatKey: e.key})
}

// granted handles the gate's answer; only the first one counts.
func (e *Errand) granted() {
	if !e.over && e.next != nil {
		e.Go(e.next)
		e.next = nil
	}
}

// Release returns the slot, or withdraws the request.
func (e *Errand) Release(ac actor.Context) {
	if e.asked {
		e.asked = false
		ac.Request(e.gate, messages.ReleaseSlot{})
	}
}

// Answer ends the errand. The actor does not stop itself, because the chat could receive its end
// before its answer; the chat stops it.
func (e *Errand) Answer(ac actor.Context, done any) {
	e.end(ac)
	ac.Request(e.chat, done)
}
