// Package adapter is the actor between one account of a platform and the chats: it takes
// messages in from the platform's receiver, sends what chats owe to people, and lets
// readers follow chats as they happen. The receiver knows only a [Port], which asks the
// actor.
//
// Ingress is in order per chat, because every message of the account passes through the actor's
// mailbox. The actor asks all chats of a batch at once and continues with its mailbox, so that a
// slow chat delays no other. It answers a batch when every turn of it is durable or refused; up to
// there the platform may be confirmed.
//
// Egress is in order per chat, one part of a chat at a time; the next part waits until the chat has
// the receipt of the last one, so that a crash hides at most one send. Rates are sliding windows,
// per chat, per group and for the whole account, for which chats queue. A wait that the service
// asks for delays its chat, or all chats if it asks one chat after another. Temporary failures are
// retried with full jitter; after a send without a response, a harmless call first tests whether
// the platform is reachable. A permanent failure, or too many failures, goes back to the chat,
// which parks the row.
//
// The actor stores nothing durably: a row belongs to its chat until the chat has its receipt.
// Queued rows and rate windows survive a panic: the restarted actor continues at once, and parks a
// row that makes it panic repeatedly.
package adapter

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options configure an adapter actor.
type Options struct {
	Platform platform.Platform
	Router   *actor.PID
	Logger   *slog.Logger
	Metrics  *Metrics // may be nil
	// Jitter spreads the waits between retries; nil means full jitter.
	Jitter func(time.Duration) time.Duration
}

// Name returns the name of a platform's adapter actor, so that chats can address it by the first
// word of their key.
func Name(platformName string) string { return "adapter-" + platformName }

// Props makes the adapter actor of one platform. They are for one spawn: queued rows and rate
// windows survive a panic of the actor, so that a restart continues at once and no faster than the
// service allows.
func Props(o Options) *actor.Props {
	if o.Jitter == nil {
		o.Jitter = fullJitter
	}
	sender, _ := o.Platform.(platform.Sender)
	editor, _ := o.Platform.(platform.Editor)
	typer, _ := o.Platform.(platform.Typer)
	drafter, _ := o.Platform.(platform.Drafter)
	marker, _ := o.Platform.(platform.Marker)
	outcomer, _ := o.Platform.(platform.Outcomer)
	caps := o.Platform.Capabilities()
	owed := newBook(caps.Rates)
	return actor.PropsFromProducer(func() actor.Actor {
		return &adapter{
			Options: o, book: owed, caps: caps, sender: sender, editor: editor, typer: typer, drafter: drafter, marker: marker,
			outcomer: outcomer, watches: map[string]watch{},
		}
	})
}

// adapter is one incarnation of the actor.
type adapter struct {
	Options
	*book
	caps    platform.Capabilities
	sender  platform.Sender
	editor  platform.Editor
	typer   platform.Typer
	drafter platform.Drafter
	marker  platform.Marker
	// outcomer may be nil; showing counts its calls in progress.
	outcomer platform.Outcomer
	showing  int
	home     pipe.Home
	watches  map[string]watch
}

// Receive handles a message, and then starts what the lane of that message can start now. No
// handler starts a call itself.
func (a *adapter) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		a.started(ac)
	case *actor.Restarting:
		for id := range a.watches {
			a.closeWatch(ac, id)
		}
		return // the next incarnation needs to know which row this one was working on
	case *actor.Stopping:
		a.cancel()
		for id := range a.watches {
			a.endWatch(id)
		}
	case messages.ToAdapter:
		a.command(ac, msg)
	case handover:
		a.take(ac, msg)
	case question:
		ac.RequestWithCustomSender(a.Router, msg.Addressed, ac.Sender())
	case watchOpened:
		a.openWatch(ac, msg)
	case watchClosed:
		a.closeWatch(ac, msg.id)
	case planned:
		a.planned(ac, msg)
	case partSent:
		a.partSent(ac, msg)
	case draftShown:
		a.draftShown(ac, msg)
	case due:
		a.onDue(msg)
	case lineDue:
		a.onLineDue(ac)
	case keptDue:
		a.onKeptDue(ac, msg)
	case outcomesShown:
		a.outcomesShown(ac, msg)
	case marked:
		a.marked(msg)
	case markDue:
		a.onMarkDue()
	case reachable:
		a.hurry(ac)
	default:
		stray.Report(ac)
	}
	a.pump(ac, a.at)
	a.at, a.receiver = nil, nil
	a.drained(ac)
}

func (a *adapter) command(ac actor.Context, msg messages.ToAdapter) {
	switch msg := msg.(type) {
	case messages.Deliver:
		a.deliver(ac, msg)
	case messages.EgressKept:
		a.onKept(msg)
	case messages.ForgetRows:
		if l := a.find(msg.ChatKey); l != nil {
			l.queue, l.draft, l.call = nil, nil, 0
		}
	case messages.ShowDraft:
		a.showDraft(msg)
	case messages.ShowTyping:
		a.showTyping(msg)
	case messages.ShowMark:
		a.showMark(msg)
	case messages.ShowOutcomes:
		a.showOutcomes(ac, msg)
	case messages.ChatProgressed:
		a.progress(ac, msg)
	case messages.WatchEnded:
		a.endWatch(msg.WatchID)
	case messages.Drain:
		a.closing, a.drainer = true, ac.Sender()
	}
}

// drained answers when no call and no receipt is pending, so that the chats know everything that
// people see.
func (a *adapter) drained(ac actor.Context) {
	if a.drainer == nil {
		return
	}
	for _, l := range a.lanes {
		if l.call != 0 || l.kept != nil {
			return
		}
	}
	ac.Send(a.drainer, messages.Drained{})
	a.drainer = nil
}

// started begins, or continues after a panic. Calls in progress continue and report to this
// incarnation.
func (a *adapter) started(ac actor.Context) {
	a.home = pipe.NewHome(ac)
	if a.cancel == nil {
		a.ctx, a.cancel = context.WithCancel(context.Background())
		return
	}
	a.Logger.Error("the adapter was restarted", "component", "adapter", "platform", a.Platform.Name(), "chats_owed", len(a.lanes))
	a.resume(ac)
	if l := a.at; l != nil {
		a.at = nil
		a.strike(ac, l)
	}
	a.lined = false // the timer's message may have been lost
	a.armLine(time.Now())
	a.marks.armed = false
	a.pumpMarks()
	for _, key := range a.keys() {
		a.pump(ac, a.lanes[key])
	}
}

// strike counts a panic against the row that the actor was working on. A row that keeps causing
// panics is parked.
func (a *adapter) strike(ac actor.Context, l *lane) {
	if len(l.queue) == 0 || l.kept != nil {
		return
	}
	if l.queue[0].strikes++; l.queue[0].strikes >= maxStrikes {
		a.fail(ac, l, "panic")
	}
}
