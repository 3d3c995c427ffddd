package shard

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// load reports the shard's load to the router.
func (s *shard) load() {
	if s.router == nil {
		return
	}
	load := messages.ShardLoad{Chats: len(s.table.byKey), Bytes: s.table.bytes, Shed: s.shed, Shedding: s.victim != nil}
	if e := s.table.oldest(); e != nil {
		load.Oldest = e.last
	}
	s.root.RequestWithCustomSender(s.router, load, s.self)
}

// sized notes a chat's size.
func (s *shard) sized(msg messages.ChatSized) {
	if e := s.table.byKey[msg.ChatKey]; e != nil {
		s.opts.Metrics.grew(s.table.size(e, msg.Bytes))
		s.load()
	}
}

// onShed asks the least recently used chat to stop, if it has been unused long enough.
func (s *shard) onShed(ac actor.Context, msg messages.Shed) {
	e := s.table.oldest()
	if e == nil || s.victim != nil || s.closing || e.last.After(msg.NotAfter) {
		s.shed = msg.Seq
		s.load()
		return
	}
	why := causeChats
	if msg.Memory {
		why = causeMemory
	}
	s.shed, s.victim = msg.Seq, e
	s.ask(ac, e, why)
}

// settled notes that a chat has stopped or refused to. If the router ordered it, the router is told
// that the next may be asked.
func (s *shard) settled(e *entry) {
	s.answer(e, messages.UnloadBusy)
	if s.victim == e {
		s.victim = nil
		s.load()
	}
}

// ask asks a chat whether it may be stopped.
func (s *shard) ask(ac actor.Context, e *entry, why cause) {
	e.asked = why
	ac.Request(e.pid, messages.AskPassivate{Seq: e.sent})
}

// answer tells the operator who ordered to stop a chat what has become of it.
func (s *shard) answer(e *entry, refused messages.UnloadRefusal) {
	if e.orderer != nil {
		s.root.Send(e.orderer, messages.ChatUnloaded{ChatKey: e.key, Refused: refused})
		e.orderer = nil
	}
}
