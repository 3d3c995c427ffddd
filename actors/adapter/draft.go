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

// draftShown reports that a placeholder was sent or edited. Failures do not matter, since the final
// text is sent regardless, except for a wait that the service asks for.
type draftShown struct {
	key  messages.ChatKey
	call uint64
	row  messages.RowID
	made messages.Receipt // without an id the call failed, or made no message
	part *platform.Part   // what the message shows now; nil if unknown
	err  error
	at   time.Time // when the call was counted
	idle bool      // people see the text already: no call was made
	// apart is set if the text was shown apart from the messages, by a [platform.Drafter].
	apart bool
}

// draftDeadline bounds a call whose failure is harmless.
const draftDeadline = 10 * time.Second

const (
	// draftLives is how long a draft that is no message stays visible without being shown again.
	draftLives = 20 * time.Second
	// maxRepeats bounds how long a text that does not grow is kept visible.
	maxRepeats = 45
)

func (a *adapter) showDraft(msg messages.ShowDraft) {
	if a.editor == nil || !a.caps.Drafts {
		return
	}
	l := a.lane(msg.ChatKey, msg.ChatType)
	if l.draft == nil || l.draft.row != msg.Row {
		if l.draft != nil {
			l.placeholder(l.draft.row, l.draft.made, l.draft.part)
		}
		l.draft = &draft{row: msg.Row, at: msg.ReplyTo, made: msg.Draft}
	}
	l.draft.text = msg.Text
}

// pumpDraft shows the newest draft if the limits leave enough room. Final texts go first: the
// lane's queue is empty here.
func (a *adapter) pumpDraft(l *lane, now time.Time) {
	d := l.draft
	if d == nil {
		return
	}
	beside := d.made.ID == "" && a.drafter != nil && a.drafter.TakesDrafts(l.target)
	if d.text == d.last && (!beside || d.repeats >= maxRepeats) {
		return
	}
	if d.made.ID == "" && d.unknown > 0 && !beside {
		return // a placeholder may exist unknown to us; people would see a second one
	}
	wait := max(l.wait(now), d.next.Sub(now), a.limits.wait(now))
	if tight := len(a.line) > 0 || !l.group.spare(now) || !a.limits.all.spare(now); wait <= 0 && tight {
		wait = time.Second
	}
	if d.text == d.last {
		wait = max(wait, draftLives-now.Sub(d.shown))
	}
	if wait > 0 {
		a.look(l, wait)
		return
	}
	l.call = a.nextCall()
	l.note(now)
	a.limits.all.note(now)
	if d.repeats++; d.text != d.last {
		d.repeats = 0
	}
	every, ok := a.caps.DraftEvery[l.target.ChatType]
	if !ok {
		every = a.caps.DraftEvery[""]
	}
	d.next, d.last, d.shown = now.Add(every), d.text, now
	out := platform.Outbound{To: l.target, Text: d.text, ReplyTo: d.at, Draft: true}
	shown, stands := draftShown{key: l.key, call: l.call, row: d.row, made: d.made, apart: beside, at: now}, d.part
	ctx, sender, editor, drafter, target := a.ctx, a.sender, a.editor, a.drafter, l.target
	a.home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, draftDeadline)
		defer cancel()
		parts := sender.Plan(out)
		switch {
		case len(parts) == 0:
			shown.idle = true
			return shown
		case beside:
			shown.err = drafter.Draft(ctx, target, partID(shown.row), parts[0])
			return shown
		case shown.made.ID == "":
			shown.made, shown.err = sender.Send(ctx, target, parts[0])
		case same(stands, parts[0]): // it grew beyond what one message shows, or in an invisible way
			shown.idle = true
		default:
			shown.err = editor.Edit(ctx, target, shown.made.ID, parts[0])
		}
		if shown.err == nil {
			shown.part = &parts[0]
		}
		return shown
	}, func(pipe.Panicked) any { return shown })
}

func (a *adapter) draftShown(ac actor.Context, msg draftShown) {
	l := a.ended(msg.key, msg.call)
	if l == nil {
		return
	}
	now := time.Now()
	if msg.idle {
		l.back(msg.at)
		a.limits.all.back(msg.at)
	} else {
		l.over(now)
	}
	if msg.err == nil && !msg.idle {
		a.limits.sent()
	}
	if e, ok := errors.AsType[*platform.Error](msg.err); ok {
		a.noteWait(l, e, now)
		if e.Unknown && msg.made.ID == "" && !msg.apart {
			l.doubtful(msg.row)
		}
	}
	if l.draft != nil && l.draft.row == msg.row && !msg.idle {
		l.draft.part = msg.part
	}
	if l.draft != nil && l.draft.row == msg.row && l.draft.made.ID == "" && msg.made.ID != "" {
		l.draft.made = msg.made
		l.kept = &receipt{progressed: messages.EgressProgressed{ChatKey: l.key, Row: msg.row, Receipt: msg.made, Draft: true}}
		a.tell(ac, l)
		return
	}
	if errors.Is(msg.err, platform.ErrNoDraft) && l.draft != nil && l.draft.row == msg.row {
		l.draft.last, l.draft.next = "", now // it is shown in a message instead
	}
	l.placeholder(msg.row, msg.made, msg.part)
}

// doubtful notes that a placeholder of the row may exist that we do not know.
func (l *lane) doubtful(row messages.RowID) {
	if l.draft != nil && l.draft.row == row {
		l.draft.unknown++
		return
	}
	for _, j := range l.queue {
		if j.row.Row == row {
			j.unknown++
		}
	}
}

// placeholder hands the placeholder of a queued row to that row when the next row's draft takes its
// place.
func (l *lane) placeholder(row messages.RowID, made messages.Receipt, part *platform.Part) {
	for _, j := range l.queue {
		if j.row.Row == row && (j.row.Draft.ID == "" || j.row.Draft.ID == made.ID) {
			j.row.Draft, j.shown = made, part
		}
	}
}

// showTyping is best effort and counts against no limit, but pauses while the service asks to wait.
func (a *adapter) showTyping(msg messages.ShowTyping) {
	now := time.Now()
	if l := a.lanes[msg.ChatKey]; a.typer == nil || a.limits.until.After(now) || l != nil && l.after.After(now) {
		return
	}
	target := targetOf(msg.ChatKey, msg.ChatType)
	ctx, typer := a.ctx, a.typer
	a.home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, draftDeadline)
		defer cancel()
		_ = typer.Typing(ctx, target) // optional: errors do not matter
		return nil
	}, func(pipe.Panicked) any { return nil })
}
