package adapter

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// sendDeadline bounds one call of the platform.
const sendDeadline = 60 * time.Second

// planned: a row was rendered and split, away from Receive since that may take long.
type planned struct {
	key   messages.ChatKey
	row   messages.RowID
	parts []platform.Part
	err   error
}

// partSent: one call has ended.
type partSent struct {
	key messages.ChatKey
	row messages.RowID
	id  string
	err error
}

// due: a lane may go on.
type due struct{ key messages.ChatKey }

func (a *adapter) deliver(ac actor.Context, msg messages.Deliver) {
	l := a.lane(msg.ChatKey, msg.ChatType)
	if l.has(msg.Row) {
		return
	}
	l.queue = append(l.queue, &job{row: msg, sent: msg.Sent})
	a.pump(ac, l)
}

// pump begins the lane's next call, if nothing holds it back.
func (a *adapter) pump(ac actor.Context, l *lane) {
	if l == nil || l.busy {
		return
	}
	now := time.Now()
	if len(l.queue) == 0 {
		a.pumpDraft(ac, l, now)
		a.forget(l, now)
		return
	}
	j := l.queue[0]
	if j.parts == nil {
		a.plan(l, j)
		return
	}
	if wait := a.wait(l, now); wait > 0 {
		a.later(ac, l.key, wait)
		return
	}
	a.send(l, j, now)
}

// wait is how long the limits hold the lane back.
func (a *adapter) wait(l *lane, now time.Time) time.Duration {
	return max(l.after.Sub(now), l.chat.wait(now), l.group.wait(now), a.all.wait(now))
}

func (a *adapter) note(l *lane, now time.Time) {
	l.chat.note(now)
	l.group.note(now)
	a.all.note(now)
}

func (a *adapter) later(ac actor.Context, key messages.ChatKey, wait time.Duration) {
	root, self := ac.ActorSystem().Root, ac.Self()
	time.AfterFunc(wait, func() { root.Send(self, due{key}) })
}

func (a *adapter) plan(l *lane, j *job) {
	l.busy = true
	out := platform.Outbound{To: l.target, Text: j.row.Text, ReplyTo: j.row.ReplyTo}
	for _, f := range j.row.Files {
		out.Attachments = append(out.Attachments, platform.Attachment(f))
	}
	key, row, sender := l.key, j.row.Row, a.sender
	a.home.Go(func() any {
		return planned{key: key, row: row, parts: sender.Plan(out)}
	}, func(p pipe.Panicked) any { return planned{key: key, row: row, err: p} })
}

func (a *adapter) planned(ac actor.Context, msg planned) {
	l := a.lanes[msg.key]
	l.busy = false
	if len(l.queue) == 0 || l.queue[0].row.Row != msg.row {
		return
	}
	j := l.queue[0]
	j.parts = msg.parts
	if msg.err != nil || len(j.sent) >= len(j.parts) {
		if msg.err != nil {
			a.Logger.Error("rendering panicked", "component", "adapter", "chat_key", string(msg.key), "error", msg.err)
			a.fail(ac, l, "render")
		} else {
			a.delivered(ac, l)
		}
	}
	a.pump(ac, l)
}

// send begins the call of a row's next part.
func (a *adapter) send(l *lane, j *job, now time.Time) {
	l.busy = true
	a.note(l, now)
	part, key, row, target := j.parts[len(j.sent)], l.key, j.row.Row, l.target
	draftID := ""
	if len(j.sent) == 0 && a.editor != nil && part.Attachment == nil {
		draftID = l.draftOf(j.row)
	}
	ctx, sender, editor := a.ctx, a.sender, a.editor
	a.home.Go(func() any {
		ctx, cancel := withDeadline(ctx)
		defer cancel()
		if draftID != "" {
			err := editor.Edit(ctx, target, draftID, part)
			if e, ok := errors.AsType[*platform.Error](err); err == nil || ok && e.Retryable {
				return partSent{key: key, row: row, id: draftID, err: err}
			}
			// The placeholder is gone or cannot be edited: people get the text anew.
		}
		id, err := sender.Send(ctx, target, part)
		return partSent{key: key, row: row, id: id, err: err}
	}, func(p pipe.Panicked) any { return partSent{key: key, row: row, err: p} })
}

func (a *adapter) partSent(ac actor.Context, msg partSent) {
	l := a.lanes[msg.key]
	l.busy = false
	if len(l.queue) == 0 || l.queue[0].row.Row != msg.row {
		return
	}
	j := l.queue[0]
	if msg.err != nil {
		a.sendFailed(ac, l, j, msg.err)
		return
	}
	a.Metrics.sent(a.Platform.Name(), "ok")
	j.tries, j.failing = 0, time.Time{}
	j.sent = append(j.sent, msg.id)
	if len(j.sent) == len(j.parts) {
		a.delivered(ac, l)
	} else {
		ac.Send(a.Router, messages.EgressProgressed{ChatKey: l.key, Row: j.row.Row, Part: len(j.sent) - 1, MessageID: msg.id})
	}
	a.pump(ac, l)
}

func (a *adapter) delivered(ac actor.Context, l *lane) {
	j := l.queue[0]
	l.queue = l.queue[1:]
	if l.draft != nil && l.draft.row == j.row.Row {
		l.draft = nil
	}
	ac.Send(a.Router, messages.EgressDelivered{ChatKey: l.key, Row: j.row.Row, Receipts: j.sent})
}

func (a *adapter) sendFailed(ac actor.Context, l *lane, j *job, err error) {
	if a.ctx.Err() != nil {
		return // stopping: the chat still owns the row
	}
	e, ok := errors.AsType[*platform.Error](err)
	if !ok {
		e = &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	a.Metrics.sent(a.Platform.Name(), string(e.Reason))
	wait, again := j.retry(e, time.Now(), a.Jitter)
	if !again {
		a.Logger.Warn("an answer could not be sent and is parked", "component", "adapter", "chat_key", string(l.key), "reason", string(e.Reason), "error", err)
		a.fail(ac, l, string(e.Reason))
		a.pump(ac, l)
		return
	}
	a.Logger.Info("a send failed and will be tried again", "component", "adapter", "chat_key", string(l.key),
		"reason", string(e.Reason), "wait", wait.String(), "try", j.tries, "error", err)
	l.after = time.Now().Add(wait)
	ac.Send(a.Router, messages.EgressDelayed{ChatKey: l.key, Row: j.row.Row, Tries: j.tries, Reason: string(e.Reason)})
	a.later(ac, l.key, wait)
}

func (a *adapter) fail(ac actor.Context, l *lane, reason string) {
	j := l.queue[0]
	l.queue = l.queue[1:]
	ac.Send(a.Router, messages.EgressFailed{ChatKey: l.key, Row: j.row.Row, Reason: reason, Tries: j.tries})
}
