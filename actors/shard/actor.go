package shard

import (
	"net/url"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/kin"
	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/messages"
)

// DefaultIdle is how long a chat is kept active after its last message.
const DefaultIdle = time.Minute

// Options configure a shard.
type Options struct {
	// Chat makes the actor of a chat.
	Chat func(key messages.ChatKey) *actor.Props
	Idle time.Duration // 0 means [DefaultIdle]
	// Metrics may be nil.
	Metrics *Metrics
}

// Props makes one shard.
func Props(o Options) *actor.Props {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	return actor.PropsFromProducer(func() actor.Actor { return &shard{opts: o, table: newTable()} })
}

type shard struct {
	opts    Options
	table   *table
	ticking bool
	self    *actor.PID
	root    *actor.RootContext
	home    pipe.Home
	router  *actor.PID       // nil if the load is not watched
	parent  actor.Supervisor // restarts children; set by the first panic

	// sent counts the messages to all chats. An answer may arrive after the news of its chat's end, and must not name a
	// message to the next activation.
	sent   uint64
	shed   uint64 // the newest order carried out
	victim *entry // the chat that the current order asked

	closing bool       // the host is stopping
	drainer *actor.PID // who waits for the bucket to be empty
}

// sweep asks to look for idle chats.
type sweep struct{}

func (s *shard) Receive(ac actor.Context) {
	defer stray.Guard(ac)
	switch msg := ac.Message().(type) {
	case *actor.Started:
		s.self, s.root, s.router, s.home = ac.Self(), ac.ActorSystem().Root, ac.Parent(), pipe.NewHome(ac)
	case messages.UnloadChat:
		s.unload(ac, msg)
	case messages.ShardQuery:
		ac.Respond(messages.ShardReply{Chats: s.table.active()})
	case messages.Addressed:
		s.deliver(ac, messages.KeyOf(msg), msg, ac.Sender())
	case messages.PassivateOK:
		s.passivate(ac, msg)
	case messages.PassivateBusy:
		s.busy(msg.ChatKey)
	case messages.ChatSized:
		s.sized(msg)
	case messages.Drained:
		s.stop(ac, msg.ChatKey, causeStop)
	case *actor.Terminated:
		s.gone(ac, msg.Who)
	case revive:
		s.onRevive(msg)
	case sweep:
		s.sweep(ac)
	case messages.Shed:
		s.onShed(ac, msg)
	case messages.Drain:
		s.drain(ac)
	case *actor.Stopping, *actor.Restarting:
		s.ending()
	default:
		stray.Report(ac)
	}
}

// ending prevents restarts while the shard ends.
func (s *shard) ending() {
	for _, e := range s.table.byKey {
		if e.crash.timer != nil {
			e.crash.timer.Stop()
		}
	}
}

// deliver sends a message to its chat, activating it if necessary.
func (s *shard) deliver(ac actor.Context, key messages.ChatKey, msg any, sender *actor.PID) {
	if s.closing && begins(msg) && s.refuse(ac, msg, sender, reasonStopping) {
		return
	}
	e := s.table.byKey[key]
	if e == nil {
		if s.closing {
			s.refuse(ac, msg, sender, reasonStopping) // a chat without activation has no pending receipts
			return
		}
		if e = s.spawn(ac, key); e == nil {
			s.refuse(ac, msg, sender, reasonParked)
			return
		}
	}
	s.table.touch(e, time.Now())
	if e.waits() {
		s.keep(ac, e, letter{msg, sender})
		return
	}
	s.send(e, letter{msg, sender})
	s.tick()
}

func (s *shard) spawn(ac actor.Context, key messages.ChatKey) *entry {
	pid, err := ac.SpawnNamed(s.opts.Chat(key), url.PathEscape(string(key)))
	if err != nil { // Unreachable: a name is free once Terminated has arrived
		ac.Logger().Error("a chat could not be started", "chat_key", string(key), "error", err)
		return nil
	}
	e := &entry{key: key, pid: pid, last: time.Now()}
	s.table.add(e)
	s.opts.Metrics.activated()
	s.load()
	return e
}

// passivate stops a chat that has no work left, unless more messages were sent to it.
func (s *shard) passivate(ac actor.Context, msg messages.PassivateOK) {
	e := s.table.byKey[msg.ChatKey]
	if e == nil || e.waits() || e.asked == "" {
		return
	}
	if e.sent == msg.Seq {
		s.stop(ac, msg.ChatKey, e.asked)
		return
	}
	e.asked = ""
	s.settled(e)
}

func (s *shard) stop(ac actor.Context, key messages.ChatKey, why cause) {
	if e := s.table.byKey[key]; e != nil && !e.leaving {
		e.leaving, e.asked = true, why
		ac.Stop(e.pid)
	}
}

func (s *shard) busy(key messages.ChatKey) {
	if e := s.table.byKey[key]; e != nil && !e.leaving {
		e.asked = ""
		s.table.touch(e, time.Now())
		s.settled(e)
	}
}

// gone removes a chat, and activates it again if letters wait for it.
func (s *shard) gone(ac actor.Context, who *actor.PID) {
	kin.Forget(ac)
	e := s.table.byPID[who.Id]
	if e == nil {
		return
	}
	if e.crash.timer != nil {
		e.crash.timer.Stop()
	}
	s.table.remove(e)
	s.opts.Metrics.passivated(e)
	s.answer(e, "")
	if s.victim == e {
		s.settled(e)
	} else {
		s.load()
	}
	for _, l := range e.buf {
		s.deliver(ac, e.key, l.msg, l.sender)
	}
	s.finish(ac)
}

func (s *shard) sweep(ac actor.Context) {
	s.ticking = false
	for _, e := range s.table.idle(time.Now().Add(-s.opts.Idle)) {
		s.ask(ac, e, causeIdle)
	}
	s.tick()
}

// tick arms the sweep while there are chats.
func (s *shard) tick() {
	if s.ticking || len(s.table.byKey) == 0 {
		return
	}
	s.ticking = true
	s.home.After(s.opts.Idle/2, sweep{})
}

func (s *shard) drain(ac actor.Context) {
	s.closing, s.drainer = true, ac.Sender()
	for _, e := range s.table.byKey {
		if e.crash.down && !s.owed(ac, e) { // it cannot answer; its journal has everything that matters
			s.stop(ac, e.key, causeStop)
			continue
		}
		s.revive(e)
		ac.Request(e.pid, messages.Drain{})
	}
	s.finish(ac)
}

// owed refuses the waiting messages of a chat that the sender can repeat. It reports whether the
// others, which no sender would repeat, justify another start of the chat: a lost receipt makes
// people see an answer twice.
func (s *shard) owed(ac actor.Context, e *entry) bool {
	e.buf = slices.DeleteFunc(e.buf, func(l letter) bool { return s.refuse(ac, l.msg, l.sender, reasonStopping) })
	return len(e.buf) > 0
}

// finish reports an empty shard to the actor that drains it, once.
func (s *shard) finish(ac actor.Context) {
	if s.drainer != nil && len(s.table.byKey) == 0 {
		ac.Send(s.drainer, messages.Drained{})
		s.drainer = nil
	}
}
