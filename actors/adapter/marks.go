package adapter

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	markDeadline = 5 * time.Second
	// markEvery is the pace of marks, over all chats.
	markEvery = 100 * time.Millisecond
	// maxMarks is how many wait; one that comes beyond takes the place of the oldest.
	maxMarks = 256
	// markAge is how long the first mark of a message is worth showing.
	markAge = 30 * time.Second
)

// marks are those that wait to be shown. They have the lowest rank of all that is
// sent: they go beside the chats' lanes, one at a time, only while more than half of
// the account's limit is free, and they take nothing of it. What waits too long or is
// too much is dropped.
type marks struct {
	queue []mark
	busy  bool // a call is under way
	armed bool // a look is due
	next  time.Time
}

// mark is the newest that is wanted on a message.
type mark struct {
	of    messages.ShowMark
	fresh bool // nobody has seen any mark on the message yet
	since time.Time
}

// marked: the call of a mark has ended.
type marked struct{ err error }

// markDue: the next mark may be shown.
type markDue struct{}

func (a *adapter) showMark(msg messages.ShowMark) {
	if a.marker == nil || !a.caps.Reactions || msg.MessageID == "" {
		return
	}
	a.marks.want(msg, time.Now())
	a.pumpMarks()
}

// want notes what is wanted on a message, in the place of what was. A mark that
// nobody has seen and nobody wants any more is forgotten.
func (m *marks) want(msg messages.ShowMark, now time.Time) {
	for i, q := range m.queue {
		if q.of.ChatKey != msg.ChatKey || q.of.MessageID != msg.MessageID {
			continue
		}
		if msg.Mark == messages.MarkNone && q.fresh {
			m.queue = append(m.queue[:i], m.queue[i+1:]...)
			return
		}
		m.queue[i].of = msg
		return
	}
	if len(m.queue) >= maxMarks {
		m.queue = m.queue[1:]
	}
	m.queue = append(m.queue, mark{of: msg, fresh: msg.Mark == messages.MarkSeen, since: now})
}

// take is the next mark that is worth a call.
func (m *marks) take(now time.Time, held func(messages.ChatKey) bool) (messages.ShowMark, bool) {
	for len(m.queue) > 0 {
		q := m.queue[0]
		m.queue[0] = mark{}
		m.queue = m.queue[1:]
		if q.fresh && now.Sub(q.since) > markAge || held(q.of.ChatKey) {
			continue
		}
		return q.of, true
	}
	return messages.ShowMark{}, false
}

// pumpMarks shows the next mark, if nobody could want the room for an answer.
func (a *adapter) pumpMarks() {
	if a.marks.busy || len(a.marks.queue) == 0 || a.closing {
		return
	}
	now := time.Now()
	wait := a.marks.next.Sub(now)
	if len(a.line) > 0 || a.limits.wait(now) > 0 || !a.limits.all.spare(now) {
		wait = max(wait, time.Second)
	}
	if wait > 0 {
		a.lookAtMarks(wait)
		return
	}
	msg, ok := a.marks.take(now, func(key messages.ChatKey) bool {
		l := a.lanes[key]
		return l != nil && l.after.After(now) // the service wants to hear nothing from there
	})
	if !ok {
		return
	}
	a.marks.busy, a.marks.next = true, now.Add(markEvery)
	addr, _ := msg.ChatKey.Address()
	target := platform.Target{ChatKey: msg.ChatKey, Chat: addr.Chat, Topic: addr.Topic, ChatType: msg.ChatType}
	ctx, marker := a.ctx, a.marker
	a.home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, markDeadline)
		defer cancel()
		return marked{marker.Mark(ctx, target, msg.MessageID, msg.Mark)}
	}, func(pipe.Panicked) any { return marked{} })
}

func (a *adapter) lookAtMarks(wait time.Duration) {
	if a.marks.armed {
		return
	}
	a.marks.armed = true
	a.home.After(wait, markDue{})
}

func (a *adapter) onMarkDue() {
	a.marks.armed = false
	a.pumpMarks()
}

// marked goes on. A mark that failed is of no consequence; a wait that the service
// asks for holds marks alone.
func (a *adapter) marked(msg marked) {
	a.marks.busy = false
	if e, ok := errors.AsType[*platform.Error](msg.err); ok && e.Reason == platform.SendRate {
		a.marks.next = time.Now().Add(e.RetryAfter)
	}
	a.pumpMarks()
}

const (
	outcomeDeadline = 15 * time.Second
	// maxShowing is how many messages are changed at once. What comes beyond, their chats
	// send again.
	maxShowing = 4
)

// outcomesShown: the call that shows how requests ended has come to its end.
type outcomesShown struct {
	of  messages.ShowOutcomes
	err error
}

// showOutcomes puts in the place of a message's buttons how its requests ended. It goes
// beside the chat's lane: what is owed there is another message.
func (a *adapter) showOutcomes(ac actor.Context, msg messages.ShowOutcomes) {
	if a.outcomer == nil || a.sender == nil {
		a.tellShown(ac, msg, false) // there were no buttons
		return
	}
	if a.showing >= maxShowing || a.closing {
		a.tellShown(ac, msg, true)
		return
	}
	a.showing++
	addr, _ := msg.ChatKey.Address()
	to := platform.Target{ChatKey: msg.ChatKey, Chat: addr.Chat, Topic: addr.Topic, ChatType: msg.ChatType}
	ctx, sender, outcomer := a.ctx, a.sender, a.outcomer
	a.home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, outcomeDeadline)
		defer cancel()
		var part platform.Part
		out := platform.Outbound{To: to, Text: msg.Text}
		for _, o := range msg.Asks {
			out.Asks = append(out.Asks, o.Ask)
		}
		for _, p := range sender.Plan(out) {
			if len(p.Asks) > 0 {
				part = p
			}
		}
		return outcomesShown{msg, outcomer.ShowOutcomes(ctx, to, msg.MessageID, part, msg.Asks)}
	}, func(pipe.Panicked) any { return outcomesShown{of: msg} })
}

// outcomesShown tells the chat. A message that cannot be changed for good, for example
// since it is gone, shows nothing that is wrong for long: a press says what happened.
func (a *adapter) outcomesShown(ac actor.Context, msg outcomesShown) {
	a.showing--
	e, refused := errors.AsType[*platform.Error](msg.err)
	again := msg.err != nil && (!refused || e.Retryable || e.Reason == platform.SendAuth)
	if msg.err != nil && !again {
		a.Logger.Warn("the outcome of a request could not be shown in the place of its buttons", "component", "adapter", "chat_key", string(msg.of.ChatKey), "error", msg.err)
	}
	a.tellShown(ac, msg.of, again)
}

func (a *adapter) tellShown(ac actor.Context, msg messages.ShowOutcomes, again bool) {
	ac.Send(a.Router, messages.OutcomesShown{ChatKey: msg.ChatKey, Row: msg.Row, Ended: msg.Ended, Retry: again})
}
