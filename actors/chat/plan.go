package chat

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// input is one thing that a chat decides about: a message, a timer that fired, the outcome
// of an effect, [loaded], [idle] or [refused].
type input struct {
	now    time.Time
	newID  func(now time.Time) string // a random id that sorts by time
	msg    any
	sender *actor.PID // where an answer goes; nil if nobody waits for one
	child  string     // the name of the child of the chat that sent it
	err    error      // why the writes of a plan were refused, of what is decided instead
}

type (
	// loaded is decided about first, after every load.
	loaded struct{}
	// idle asks what happens when nothing else does.
	idle struct{}
	// refused is decided about instead of the effects of a plan whose writes were refused. Of
	// is the message that the plan was for.
	refused struct {
		of     any
		reason string
	}
	// childGone is the end of a child that sent no last word.
	childGone struct{ name string }
	// forgotten follows the deletion of a chat. Of is the order to delete it.
	forgotten struct {
		of  any
		err error
	}
)

// plan is what a decision asks for: writes, which are durable before anything else happens,
// and then effects, in order.
type plan struct {
	wake    bool // the chat is marked to be loaded at a start of the host
	writes  []write
	effects []effect
	// mayRefuse: whoever sent the message sends it again, or hears that it was refused. When
	// the store refuses the writes, nothing has changed. Otherwise the chat is loaded anew.
	mayRefuse bool
	// ifRefused is decided about when the store refuses the writes; nil: [refused].
	ifRefused any
	// rest marks the chat as one that no start has to load, after the writes.
	rest bool

	next *chat // the chat after the writes
}

// empty reports whether the plan changes nothing and asks for nothing.
func (p *plan) empty() bool {
	return !p.wake && !p.rest && len(p.writes) == 0 && len(p.effects) == 0
}

// write is one of facts, a turn that goes straight to the history, a checkpoint and a rewrite.
type write struct {
	records []journal.Record
	durable bool // fsync before the effects
	turn    *uimessage.Message
	fold    *journal.Fold
	rewrite *journal.Rewrite
}

// effect is one thing that the shell does once the writes of a plan are durable.
type effect interface {
	do(s *shell, ac actor.Context)
}

type (
	// send sends a message to an actor; with an answer wanted if the chat is the sender.
	send struct {
		to   *actor.PID
		msg  any
		asks bool // the chat is the sender
	}
	// resend gives the chat a message once more, in the order of its mailbox.
	resend struct {
		msg    any
		sender *actor.PID
	}
	// start makes a child of the chat and gives it its first message.
	start struct {
		name  string
		props func() *actor.Props
		msg   any
	}
	// tell sends a message to a child.
	tell struct {
		child string
		msg   any
	}
	// stop ends a child.
	stop struct{ child string }
	// setTimer has a message come after a while, and replaces the timer of that name. Without
	// a message it only ends it.
	setTimer struct {
		name  string
		after time.Duration
		msg   any
	}
	// fetchFiles gets the files of a turn; cancelFetch ends such an attempt.
	fetchFiles struct {
		turn uimessage.Message
		n    int
	}
	cancelFetch struct{ n int }
	// gatherRequests has the requests of other chats shown here.
	gatherRequests struct{ id, person string }
	// observe tells those who watch over the host what happened; measure counts it.
	observe func()
	measure func(*Metrics)
	// forgetAll has everything deleted that is kept of the chat.
	forgetAll struct {
		intent journal.Forgetting
		of     any
		sender *actor.PID
	}
)

// Facts are planned, and part of the working copy of the state at once.
func (c *chat) facts(durable bool, facts []journal.Fact) {
	if len(facts) == 0 {
		return
	}
	c.copyState()
	records := c.state.Next(c.now().UnixMilli(), facts...)
	for _, r := range records {
		if err := c.state.Apply(r); err != nil {
			panic("a fact of this version cannot be applied: " + err.Error())
		}
	}
	if n := len(c.p.writes); n > 0 && c.p.writes[n-1].records != nil {
		last := &c.p.writes[n-1]
		last.records, last.durable = append(last.records, records...), last.durable || durable
		return
	}
	c.p.writes = append(c.p.writes, write{records: records, durable: durable})
}

// append plans facts that nothing may come before.
func (c *chat) append(facts ...journal.Fact) { c.facts(true, facts) }

// note plans facts whose loss in a power cut changes nothing.
func (c *chat) note(facts ...journal.Fact) { c.facts(false, facts) }

// offer plans facts about what can be refused, or comes again: an ingress, an order, a
// receipt.
func (c *chat) offer(facts ...journal.Fact) {
	c.p.mayRefuse = true
	c.facts(true, facts)
}

// wake marks the chat to be loaded at a start.
func (c *chat) wake() { c.p.wake = true }

// open plans a turn that goes straight to the history.
func (c *chat) open(turn journal.Turn) {
	c.copyState()
	c.p.mayRefuse = true
	c.p.writes = append(c.p.writes, write{turn: &turn.Message})
	c.state.AppendOpen(turn)
}

// checkpoint moves what the journal holds to the other files of the chat.
func (c *chat) checkpoint() {
	if c.state.Run != nil || c.state.Clean() {
		return
	}
	c.saveMeta()
}

// saveMeta is a checkpoint even if the journal holds nothing.
func (c *chat) saveMeta() {
	c.copyState()
	f := c.state.Fold(c.now().UnixMilli())
	c.p.writes = append(c.p.writes, write{fold: &f})
	c.state.Folded()
}

// rewrite plans another history, after a checkpoint.
func (c *chat) rewrite(r journal.Rewrite) {
	c.copyState()
	c.p.writes = append(c.p.writes, write{rewrite: &r})
	c.state.Rewritten(r)
}

// newBegin forgets what was known of the beginning of the history, which is another one now.
// Cause is for the metric of prefixes that the model's service has to read anew.
func (c *chat) newBegin(cause string) {
	c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
	c.compaction.size, c.compaction.stale = estimate{}, 0
	c.size.turns, c.size.bytes = 0, 0
	c.prefixBroken(cause)
}

// copyState makes the state of the working copy one that may be changed.
func (c *chat) copyState() {
	if !c.owns {
		c.state, c.owns = c.state.Fork(), true
	}
}

func (c *chat) effect(e effect) { c.p.effects = append(c.p.effects, e) }

func (c *chat) send(to *actor.PID, msg any) { c.effect(send{to: to, msg: msg}) }

func (c *chat) request(to *actor.PID, msg any) { c.effect(send{to: to, msg: msg, asks: true}) }

// answer answers the message under way, if its sender waits for that.
func (c *chat) answer(msg any) {
	if c.in.sender != nil {
		c.send(c.in.sender, msg)
	}
}

// measure counts something, once it is durable.
func (c *chat) measure(f func(*Metrics)) { c.effect(measure(f)) }

func (c *chat) timer(name string, after time.Duration, msg any) {
	c.effect(setTimer{name, max(after, 0), msg})
}

func (c *chat) endTimer(name string) { c.effect(setTimer{name: name}) }

func (c *chat) now() time.Time { return c.in.now }

func (c *chat) ago(t time.Time) time.Duration { return c.in.now.Sub(t) }

func (c *chat) newID() string { return c.in.newID(c.in.now) }
