package shard

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// unload carries out an operator's order to stop a chat, or to restart it. Nothing is lost by
// either: what the chat was sent before is handled first, by the actor that stops, and what arrives
// afterwards waits here for the next one.
func (s *shard) unload(ac actor.Context, msg messages.UnloadChat) {
	e := s.table.byKey[msg.ChatKey]
	switch {
	case e == nil:
		ac.Respond(messages.ChatUnloaded{ChatKey: msg.ChatKey, Refused: messages.UnloadNotLoaded})
	case s.closing || e.leaving || e.orderer != nil || e.crash.down && !msg.Restart:
		ac.Respond(messages.ChatUnloaded{ChatKey: msg.ChatKey, Refused: messages.UnloadBusy})
	case e.crash.down:
		s.revive(e)
		ac.Respond(messages.ChatUnloaded{ChatKey: msg.ChatKey})
	case msg.Restart:
		e.orderer, e.leaving, e.asked = ac.Sender(), true, causeOrder
		e.buf = append(e.buf, letter{msg: messages.WakeChat{ChatKey: e.key}}) // so that it is loaded again
		ac.Poison(e.pid)                                                      // unlike a stop, this is handled in the order of messages
	default:
		e.orderer = ac.Sender()
		if e.asked == "" {
			s.ask(ac, e, causeOrder)
		}
	}
}
