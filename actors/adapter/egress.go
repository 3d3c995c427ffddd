package adapter

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Deadlines of one call to the platform.
const (
	sendDeadline  = 30 * time.Second
	fileDeadline  = 5 * time.Minute
	probeDeadline = 8 * time.Second
)

// planned reports that a row was rendered and split, outside Receive because that may take long.
type planned struct {
	key   messages.ChatKey
	call  uint64
	parts []platform.Part
	err   error
}

// partSent reports that one call has ended.
type partSent struct {
	key  messages.ChatKey
	call uint64
	made messages.Receipt
	err  error
}

func (a *adapter) deliver(ac actor.Context, msg messages.Deliver) {
	l := a.lane(msg.ChatKey, msg.ChatType)
	switch {
	case l.has(msg.Row):
		return
	case l.kept != nil && l.kept.whole && l.kept.row() == msg.Row: // the chat was reloaded and does not know yet
		a.tell(ac, l)
		return
	}
	j := &job{row: msg, sent: slices.Clone(msg.Sent)}
	if l.draft != nil && l.draft.row == msg.Row {
		j.unknown, j.unsure = l.draft.unknown, l.draft.unknown > 0
	}
	l.queue = append(l.queue, j)
}

func (a *adapter) plan(l *lane, j *job) {
	l.call = a.nextCall()
	out := platform.Outbound{To: l.target, ID: partID(j.row.Row), Text: j.row.Text, ReplyTo: j.row.ReplyTo, Asks: j.row.Asks}
	for _, f := range j.row.Files {
		out.Attachments = append(out.Attachments, platform.Attachment(f))
	}
	out = a.caps.Fit(out)
	done, sender := planned{key: l.key, call: l.call}, a.sender
	a.home.Go(func() any {
		done.parts = sender.Plan(out)
		return done
	}, func(p pipe.Panicked) any {
		done.err = p
		return done
	})
}

func (a *adapter) planned(ac actor.Context, msg planned) {
	l := a.ended(msg.key, msg.call)
	if l == nil {
		return
	}
	j := l.queue[0]
	switch {
	case msg.err != nil:
		a.Logger.Error("a message could not be prepared for sending because of a panic", "component", "adapter", "chat_key", string(msg.key), "error", msg.err)
		a.fail(ac, l, "render")
	case len(j.sent) >= len(msg.parts):
		a.delivered(ac, l)
	default:
		j.parts = msg.parts
	}
}

// send starts the call for a row's next part.
func (a *adapter) send(l *lane, j *job, now time.Time) {
	l.call, l.began, l.away = a.nextCall(), now, false
	l.note(now)
	a.limits.all.note(now)
	s := sending{adapter: a, to: l.target, part: j.parts[len(j.sent)], probe: j.unsure}
	if len(j.sent) == 0 && a.editor != nil && s.part.Attachment == nil {
		s.draft, _ = l.draftOf(j)
	}
	done, ctx := partSent{key: l.key, call: l.call}, a.ctx
	a.home.Go(func() any {
		done.made, done.err = s.do(ctx)
		return done
	}, func(p pipe.Panicked) any {
		done.err = p
		return done
	})
}

// sending is one call, outside Receive; it reads only immutable data.
type sending struct {
	*adapter
	to    platform.Target
	part  platform.Part
	draft messages.Receipt // the placeholder that the part replaces; without an id there is none
	probe bool
}

// do makes the call. After a call without a response it first makes a harmless one, so that people
// do not get the same text many times during an outage.
func (s sending) do(ctx context.Context) (messages.Receipt, error) {
	if s.probe && s.typer != nil {
		probe, cancel := context.WithTimeout(ctx, probeDeadline)
		err := s.typer.Typing(probe, s.to)
		cancel()
		if e, ok := errors.AsType[*platform.Error](err); ok && (e.Reason == platform.SendNetwork || e.Reason == platform.SendServer) {
			return messages.Receipt{}, &notTried{platform.Error{Reason: e.Reason, Retryable: true, Err: e.Err}}
		}
	}
	deadline := sendDeadline
	if s.part.Attachment != nil {
		deadline = fileDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if s.draft.ID != "" {
		err := s.editor.Edit(ctx, s.to, s.draft.ID, s.part)
		if e, ok := errors.AsType[*platform.Error](err); err == nil || ok && e.Retryable {
			return s.draft, harmless(err)
		}
		// The placeholder is gone or cannot be edited: send the text as a new message.
	}
	return s.sender.Send(ctx, s.to, s.part)
}

// notTried is the failure of a part that was not tried, because the platform is still not
// reachable. What is known about the previous try does not change.
type notTried struct{ of platform.Error }

func (e *notTried) Error() string { return e.of.Error() }

// Unwrap returns the failure in the common form.
func (e *notTried) Unwrap() error { return &e.of }

// harmless clears Unknown in the error of an edit, because repeating an edit changes nothing for people.
func harmless(err error) error {
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Unknown {
		known := *e
		known.Unknown = false
		return &known
	}
	return err
}

func (a *adapter) partSent(ac actor.Context, msg partSent) {
	l := a.ended(msg.key, msg.call)
	if l == nil {
		return
	}
	l.over(time.Now())
	j := l.queue[0]
	if msg.err != nil {
		a.sendFailed(ac, l, j, msg.err)
		return
	}
	a.limits.sent()
	a.arrived(ac, l, j, msg.made)
}

// arrived continues after a delivered part: the chat gets the receipt before anything else is sent.
func (a *adapter) arrived(ac actor.Context, l *lane, j *job, made messages.Receipt) {
	j.arrived(made)
	a.Metrics.sent(a.Platform.Name(), "ok")
	if len(j.sent) == len(j.parts) {
		a.delivered(ac, l)
		return
	}
	l.kept = &receipt{parts: len(j.sent), progressed: messages.EgressProgressed{
		ChatKey: l.key, Row: j.row.Row, Part: len(j.sent) - 1, Receipt: made,
	}}
	a.tell(ac, l)
}

func (a *adapter) delivered(ac actor.Context, l *lane) {
	j := l.queue[0]
	l.queue = l.queue[1:]
	l.endDraft(j)
	l.kept = &receipt{parts: len(j.sent), whole: true, delivered: messages.EgressDelivered{
		ChatKey: l.key, Row: j.row.Row, Receipts: j.sent, Maybe: j.unknown > 0,
	}}
	a.tell(ac, l)
}

func (a *adapter) sendFailed(ac actor.Context, l *lane, j *job, err error) {
	if a.ctx.Err() != nil {
		return // stopping: the chat still has the row
	}
	e, ok := errors.AsType[*platform.Error](err)
	if !ok {
		e = &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	now, unsure := time.Now(), j.unsure
	a.Metrics.sent(a.Platform.Name(), string(e.Reason))
	wait, again := j.retry(e, now, a.Jitter)
	if _, probed := errors.AsType[*notTried](err); probed {
		j.unsure = unsure
	}
	log := a.Logger.With("component", "adapter", "chat_key", string(l.key), "reason", string(e.Reason), "try", j.tries, "error", err)
	if !again {
		log.Warn("an answer could not be sent and is parked; sma outbox lists it and can send it again")
		a.fail(ac, l, string(e.Reason))
		return
	}
	away := e.Reason == platform.SendNetwork
	if away && l.began.Before(a.back) {
		wait = a.Jitter(firstRetry) // it failed in an outage that has ended
	}
	l.after, l.away = now.Add(wait), away
	a.noteWait(l, e, now)
	ac.Send(a.Router, messages.EgressDelayed{ChatKey: l.key, Row: j.row.Row, Tries: j.tries, Reason: string(e.Reason)})
	a.look(l, wait)
	log.Info("a send failed and will be tried again", "wait", wait.String())
}

func (a *adapter) fail(ac actor.Context, l *lane, reason string) {
	j := l.queue[0]
	l.queue = l.queue[1:]
	l.endDraft(j)
	ac.Send(a.Router, messages.EgressFailed{ChatKey: l.key, Row: j.row.Row, Reason: reason, Tries: j.tries, Maybe: j.unknown > 0})
}
