package shard

import (
	"net/url"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// DefaultIdle is how long a chat is kept active after its last message.
const DefaultIdle = 2 * time.Minute

// restarts is how often a chat may restart within a minute before it is stopped;
// its next message then activates it anew from the store.
const restarts = 3

// Options of a shard.
type Options struct {
	// Chat makes the actor of a chat.
	Chat func(key messages.ChatKey) *actor.Props
	Idle time.Duration // 0: [DefaultIdle]
	// Metrics may be nil.
	Metrics *Metrics
}

// Props makes one shard.
func Props(o Options) *actor.Props {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	strategy := actor.NewOneForOneStrategy(restarts, time.Minute, func(any) actor.Directive {
		o.Metrics.restarted()
		return actor.RestartDirective
	})
	return actor.PropsFromProducer(func() actor.Actor { return &shard{opts: o, table: newTable()} },
		actor.WithSupervisor(strategy))
}

type shard struct {
	opts    Options
	table   *table
	ticking bool

	closing bool       // the host stops
	drainer *actor.PID // who waits for the bucket to be empty
}

// sweep: look for idle chats.
type sweep struct{}

func (s *shard) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case messages.Addressed:
		s.deliver(ac, msg.Key(), msg, ac.Sender())
	case messages.PassivateOK:
		s.passivate(ac, msg)
	case messages.PassivateBusy:
		s.busy(msg.ChatKey)
	case messages.Drained:
		s.stop(ac, msg.ChatKey)
	case *actor.Terminated:
		s.gone(ac, msg.Who)
	case sweep:
		s.sweep(ac)
	case messages.Drain:
		s.drain(ac)
	case messages.StatsQuery:
		ac.Respond(messages.StatsReply{Active: len(s.table.byKey)})
	}
}

// deliver sends a message to its chat, activating it if need be.
func (s *shard) deliver(ac actor.Context, key messages.ChatKey, msg any, sender *actor.PID) {
	if s.closing && s.reject(ac, msg, sender) {
		return
	}
	e := s.table.byKey[key]
	if e == nil {
		if e = s.spawn(ac, key); e == nil {
			return
		}
	}
	s.table.touch(e, time.Now())
	if e.leaving {
		e.buf = append(e.buf, letter{msg, sender})
		return
	}
	e.sent++
	ac.RequestWithCustomSender(e.pid, msg, sender)
	s.tick(ac)
}

// reject answers what must not begin any more. What belongs to work under way
// (receipts) still goes through.
func (s *shard) reject(ac actor.Context, msg any, sender *actor.PID) bool {
	var answer any
	switch msg := msg.(type) {
	case messages.AcceptIngress:
		answer = messages.IngressRejected{ChatKey: msg.ChatKey, RequestID: msg.RequestID, Reason: "stopping"}
	case messages.DecideApproval:
		answer = messages.ApprovalDecided{ChatKey: msg.ChatKey, Err: "stopping"}
	default:
		return false
	}
	if sender != nil {
		ac.Send(sender, answer)
	}
	return true
}

func (s *shard) spawn(ac actor.Context, key messages.ChatKey) *entry {
	pid, err := ac.SpawnNamed(s.opts.Chat(key), url.PathEscape(string(key)))
	if err != nil { // Unreachable: names are free once Terminated has come
		ac.Logger().Error("spawn of a chat failed", "chat_key", string(key), "error", err)
		return nil
	}
	e := &entry{key: key, pid: pid}
	s.table.add(e)
	s.opts.Metrics.activated()
	return e
}

// passivate stops a chat that has nothing left to do, unless it was sent more.
func (s *shard) passivate(ac actor.Context, msg messages.PassivateOK) {
	e := s.table.byKey[msg.ChatKey]
	if e == nil || e.leaving {
		return
	}
	e.asked = false
	if e.sent == msg.Seq {
		s.stop(ac, msg.ChatKey)
	}
}

func (s *shard) stop(ac actor.Context, key messages.ChatKey) {
	if e := s.table.byKey[key]; e != nil && !e.leaving {
		e.leaving = true
		ac.Stop(e.pid)
	}
}

func (s *shard) busy(key messages.ChatKey) {
	if e := s.table.byKey[key]; e != nil {
		e.asked = false
		s.table.touch(e, time.Now())
	}
}

// gone takes a chat out and activates it anew when letters wait for it.
func (s *shard) gone(ac actor.Context, who *actor.PID) {
	e := s.table.byPID[who.Id]
	if e == nil {
		return
	}
	s.table.remove(e)
	s.opts.Metrics.passivated()
	for _, l := range e.buf {
		s.deliver(ac, e.key, l.msg, l.sender)
	}
	s.finish(ac)
}

func (s *shard) sweep(ac actor.Context) {
	s.ticking = false
	for _, e := range s.table.idle(time.Now().Add(-s.opts.Idle)) {
		e.asked = true
		ac.Request(e.pid, messages.AskPassivate{Seq: e.sent})
	}
	s.tick(ac)
}

// tick arms the sweep while there are chats; an empty shard does nothing.
func (s *shard) tick(ac actor.Context) {
	if s.ticking || len(s.table.byKey) == 0 {
		return
	}
	s.ticking = true
	root, self := ac.ActorSystem().Root, ac.Self()
	time.AfterFunc(s.opts.Idle/2, func() { root.Send(self, sweep{}) })
}

func (s *shard) drain(ac actor.Context) {
	s.closing, s.drainer = true, ac.Sender()
	for _, e := range s.table.byKey {
		ac.Request(e.pid, messages.Drain{})
	}
	s.finish(ac)
}

// finish reports an empty shard to who drains it, once.
func (s *shard) finish(ac actor.Context) {
	if s.drainer != nil && len(s.table.byKey) == 0 {
		ac.Send(s.drainer, messages.Drained{})
		s.drainer = nil
	}
}
