package adapter

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// draftShown: a placeholder was sent or edited; failures are of no consequence,
// since the final text is sent regardless.
type draftShown struct {
	key messages.ChatKey
	row messages.RowID
	id  string // empty: it failed
}

func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, sendDeadline)
}

// draftOf is the placeholder that a row replaces; empty: none.
func (l *lane) draftOf(row messages.Deliver) string {
	if l.draft != nil && l.draft.row == row.Row && l.draft.id != "" {
		return l.draft.id
	}
	return row.DraftID
}

func (a *adapter) showDraft(ac actor.Context, msg messages.ShowDraft) {
	if a.editor == nil || !a.caps.Drafts {
		return
	}
	l := a.lane(msg.ChatKey, msg.ChatType)
	if l.draft == nil || l.draft.row != msg.Row {
		l.draft = &draft{row: msg.Row, id: msg.DraftID}
	}
	l.draft.text = msg.Text
	a.pump(ac, l)
}

// pumpDraft shows the newest text under way, if the limits leave room; finals
// go first, since the lane's queue is empty here.
func (a *adapter) pumpDraft(ac actor.Context, l *lane, now time.Time) {
	d := l.draft
	if d == nil || d.text == d.last {
		return
	}
	if wait := max(a.wait(l, now), d.next.Sub(now)); wait > 0 {
		a.later(ac, l.key, wait)
		return
	}
	l.busy = true
	a.note(l, now)
	every, ok := a.caps.DraftEvery[l.target.ChatType]
	if !ok {
		every = a.caps.DraftEvery[""]
	}
	d.next, d.last = now.Add(every), d.text
	out := platform.Outbound{To: l.target, Text: d.text, Draft: true}
	shown := draftShown{key: l.key, row: d.row, id: d.id}
	ctx, sender, editor, target := a.ctx, a.sender, a.editor, l.target
	a.home.Go(func() any {
		ctx, cancel := withDeadline(ctx)
		defer cancel()
		parts := sender.Plan(out)
		if len(parts) == 0 {
			return shown
		}
		if shown.id != "" {
			_ = editor.Edit(ctx, target, shown.id, parts[0]) // the final text comes regardless
			return shown
		}
		shown.id, _ = sender.Send(ctx, target, parts[0]) // likewise
		return shown
	}, func(pipe.Panicked) any { return shown })
}

func (a *adapter) draftShown(ac actor.Context, msg draftShown) {
	l := a.lanes[msg.key]
	l.busy = false
	if l.draft != nil && l.draft.row == msg.row && l.draft.id == "" && msg.id != "" {
		l.draft.id = msg.id
		ac.Send(a.Router, messages.EgressProgressed{ChatKey: l.key, Row: msg.row, MessageID: msg.id, Draft: true})
	}
	a.pump(ac, l)
}

// showTyping is best effort and counts for no limit.
func (a *adapter) showTyping(msg messages.ShowTyping) {
	if a.typer == nil {
		return
	}
	addr, _ := msg.ChatKey.Address()
	target := platform.Target{ChatKey: msg.ChatKey, Chat: addr.Chat, Topic: addr.Topic, ChatType: msg.ChatType}
	ctx, typer := a.ctx, a.typer
	a.home.Go(func() any {
		ctx, cancel := withDeadline(ctx)
		defer cancel()
		_ = typer.Typing(ctx, target) // optional: any error from it is of no consequence
		return nil
	}, func(pipe.Panicked) any { return nil })
}
