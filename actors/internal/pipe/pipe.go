// Package pipe has the only go statement of the actors: slow work runs outside an actor, and the
// actor receives its result as a message.
package pipe

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Panicked is the result of work that panicked.
type Panicked struct {
	Value any
	Stack string
}

// Error implements error, without the stack.
func (p Panicked) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Home is where results go: an actor that may have ended by then.
type Home struct {
	root    *actor.RootContext
	pid     *actor.PID
	starter Starter // nil means goroutines
}

// Starter decides when work starts and when its result is sent. The context of an actor may
// implement it through a decorator, so that a simulation controls the order of everything. Start
// must not run the work itself.
type Starter interface {
	Start(work func() (result any), home func(result any))
}

// NewHome is the home of the actor with this context. It may be stored; the context may not.
func NewHome(ac actor.Context) Home {
	starter, _ := ac.(Starter)
	return Home{root: ac.ActorSystem().Root, pid: ac.Self(), starter: starter}
}

// Send sends the actor a message from outside of Receive, in order per goroutine.
func (h Home) Send(msg any) { h.root.Send(h.pid, msg) }

// After sends the actor a message after a wait, unless the timer is stopped before. It is the only
// timer of the actors.
func (h Home) After(wait time.Duration, msg any) *time.Timer {
	return time.AfterFunc(wait, func() { h.Send(msg) })
}

// Go runs work in a goroutine of its own and sends its result to the actor, unless that is nil. If
// the work panics or ends its goroutine, the actor gets the result of failed. The caller has to
// make the work end when its context does.
func (h Home) Go(work func() any, failed func(Panicked) any) {
	whole := func() any { return guarded(work, failed) }
	if h.starter != nil {
		h.starter.Start(whole, h.deliver)
		return
	}
	go func() {
		ended := Panicked{Value: "the work ended its goroutine"}
		var result any
		returned := false
		defer func() {
			if !returned {
				result = failed(ended)
			}
			h.deliver(result)
		}()
		result = whole()
		returned = true
	}()
}

func guarded(work func() any, failed func(Panicked) any) (result any) {
	defer func() {
		if v := recover(); v != nil {
			result = failed(Panicked{Value: v, Stack: string(debug.Stack())})
		}
	}()
	return work()
}

func (h Home) deliver(result any) {
	if result != nil {
		h.Send(result)
	}
}

// Root is the context for asking other actors from outside of Receive.
func (h Home) Root() *actor.RootContext { return h.root }
