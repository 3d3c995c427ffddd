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
	// maxMarks is how many wait; another one replaces the oldest.
	maxMarks = 256
	// markAge is how long the first mark of a message may still be shown.
	markAge = 30 * time.Second
)

// marks are waiting to be shown. They have the lowest priority of all sends: they bypass the chats'
// lanes, one at a time, only while more than half of the account's limit is free, and do not count
// against it. Marks that wait too long or are too many are dropped.
type marks struct {
	queue []mark
	busy  bool // a call is in progress
	armed bool // a timer is set
	next  time.Time
}

// mark is the newest mark wanted on a message.
type mark struct {
	of    messages.ShowMark
	fresh bool // the message shows no mark yet
	since time.Time
}

// marked reports that the call of a mark has ended.
type marked struct{ err error }

// markDue reports that the next mark may be shown.
type markDue struct{}

func (a *adapter) showMark(msg messages.ShowMark) {
	if a.marker == nil || !a.caps.Reactions || msg.MessageID == "" {
		return
	}
	a.marks.want(msg, time.Now())
	a.pumpMarks()
}

// want notes the mark wanted on a message, replacing the one before. A mark that was never shown
// and is no longer wanted is dropped.
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

// take returns the next mark that is still useful.
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

// pumpMarks shows the next mark if the limits leave enough room for answers.
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
		return l != nil && l.after.After(now) // the service asked to wait there
	})
	if !ok {
		return
	}
	a.marks.busy, a.marks.next = true, now.Add(markEvery)
	target := targetOf(msg.ChatKey, msg.ChatType)
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

// marked continues with the next mark. A failed mark is harmless; a wait that the service asks for
// delays only marks.
func (a *adapter) marked(msg marked) {
	a.marks.busy = false
	if e, ok := errors.AsType[*platform.Error](msg.err); ok && e.Reason == platform.SendRate {
		a.marks.next = time.Now().Add(e.RetryAfter)
	}
	a.pumpMarks()
}

const (
	outcomeDeadline = 15 * time.Second
	// maxShowing is how many messages are changed at once. The chats send the others again.
	maxShowing = 4
)

// outcomesShown reports that the call that shows outcomes of requests has ended.
type outcomesShown struct {
	of  messages.ShowOutcomes
	err error
}

// showOutcomes replaces a message's buttons with the outcomes of its requests. It bypasses the
// chat's lane, which orders other messages.
func (a *adapter) showOutcomes(ac actor.Context, msg messages.ShowOutcomes) {
	if a.outcomer == nil || a.sender == nil {
		a.tellShown(ac, msg, false) // the platform has no buttons
		return
	}
	if a.showing >= maxShowing || a.closing {
		a.tellShown(ac, msg, true)
		return
	}
	a.showing++
	to := targetOf(msg.ChatKey, msg.ChatType)
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

// outcomesShown tells the chat. If a message can never be changed, for example because it was
// deleted, its buttons do no harm: pressing one shows the outcome.
func (a *adapter) outcomesShown(ac actor.Context, msg outcomesShown) {
	a.showing--
	e, refused := errors.AsType[*platform.Error](msg.err)
	again := msg.err != nil && (!refused || e.Retryable || e.Reason == platform.SendAuth)
	if msg.err != nil && !again {
		a.Logger.Warn("the outcome of a request could not replace its buttons", "component", "adapter", "chat_key", string(msg.of.ChatKey), "error", msg.err)
	}
	a.tellShown(ac, msg.of, again)
}

func (a *adapter) tellShown(ac actor.Context, msg messages.ShowOutcomes, again bool) {
	ac.Send(a.Router, messages.OutcomesShown{ChatKey: msg.ChatKey, Row: msg.Row, Ended: msg.Ended, Retry: again})
}
