// Package stray tells of messages that an actor does not know. Such a message is
// a mistake of whoever sent it; it changes nothing, and nobody waits to find out.
// Actors whose end would end many others can guard themselves against panics.
package stray

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Report publishes the message under way as [messages.Stray], unless it is one of the
// library's own about the life of actors. It belongs into the default branch of
// Receive.
func Report(ac actor.Context) {
	msg := ac.Message()
	switch msg.(type) {
	case actor.SystemMessage, actor.AutoReceiveMessage, *actor.Started, *actor.Terminated:
		return
	}
	ac.ActorSystem().EventStream.Publish(messages.Stray{Actor: ac.Self().GetId(), Kind: fmt.Sprintf("%T", msg)})
}

// Guard is deferred by an actor that must not fail, because its children would be
// stopped. A panic is told as the library tells those that it catches itself, and
// the message under way is given up.
func Guard(ac actor.Context) {
	if v := recover(); v != nil {
		ac.ActorSystem().EventStream.Publish(&actor.SupervisorEvent{Child: ac.Self(), Reason: v, Directive: actor.ResumeDirective})
	}
}
