// Package stray reports messages that an actor does not know. Such a message is a mistake of its
// sender; it changes nothing and is not answered. Actors whose end would stop many others can
// recover from panics with [Guard].
package stray

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Report publishes the current message as [messages.Stray], unless it is one of the library's own
// about the life of actors. It belongs in the default branch of Receive.
func Report(ac actor.Context) {
	msg := ac.Message()
	switch msg.(type) {
	case actor.SystemMessage, actor.AutoReceiveMessage, *actor.Started, *actor.Terminated:
		return
	}
	ac.ActorSystem().EventStream.Publish(messages.Stray{Actor: ac.Self().GetId(), Kind: fmt.Sprintf("%T", msg)})
}

// Guard is deferred by an actor that must not fail, because its children would be stopped. A panic
// is reported like those that the library recovers itself, and the current message is dropped.
func Guard(ac actor.Context) {
	if v := recover(); v != nil {
		ac.ActorSystem().EventStream.Publish(&actor.SupervisorEvent{Child: ac.Self(), Reason: v, Directive: actor.ResumeDirective})
	}
}
