package adapter

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options of an adapter actor.
type Options struct {
	Platform platform.Platform
	Router   *actor.PID
	Logger   *slog.Logger
	Metrics  *Metrics // may be nil
	// Jitter spreads the waits between tries, in place of full jitter.
	Jitter func(time.Duration) time.Duration
}

// Name is the name that the adapter actor of a platform is spawned with, so
// that chats can address it by the first word of their key.
func Name(platformName string) string { return "adapter-" + platformName }

// Props makes the adapter actor of one platform.
func Props(o Options) *actor.Props {
	if o.Jitter == nil {
		o.Jitter = fullJitter
	}
	return actor.PropsFromProducer(func() actor.Actor {
		sender, _ := o.Platform.(platform.Sender)
		editor, _ := o.Platform.(platform.Editor)
		typer, _ := o.Platform.(platform.Typer)
		caps := o.Platform.Capabilities()
		return &adapter{
			Options: o, caps: caps, sender: sender, editor: editor, typer: typer,
			lanes: map[messages.ChatKey]*lane{}, watches: map[string]watch{}, all: window{rate: caps.Rates.PerSender},
		}
	})
}

type adapter struct {
	Options
	caps   platform.Capabilities
	sender platform.Sender
	editor platform.Editor
	typer  platform.Typer

	ctx     context.Context //nolint:containedctx // the actor's own life
	cancel  context.CancelFunc
	home    pipe.Home
	lanes   map[messages.ChatKey]*lane
	all     window
	watches map[string]watch
}

func (a *adapter) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		a.ctx, a.cancel = context.WithCancel(context.Background())
		a.home = pipe.NewHome(ac)
	case *actor.Stopping, *actor.Restarting:
		a.stop()
	case messages.Deliver:
		a.deliver(ac, msg)
	case messages.ShowDraft:
		a.showDraft(ac, msg)
	case messages.ShowTyping:
		a.showTyping(msg)
	case messages.ChatProgressed:
		a.progress(ac, msg)
	case messages.WatchEnded:
		a.endWatch(msg.WatchID)
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
		a.pump(ac, a.lanes[msg.key])
	}
}

func (a *adapter) stop() {
	if a.cancel != nil {
		a.cancel()
	}
	for id := range a.watches {
		a.endWatch(id)
	}
}

// lane finds or makes the lane of a chat.
func (a *adapter) lane(key messages.ChatKey, chatType string) *lane {
	l := a.lanes[key]
	if l == nil {
		addr, _ := key.Address()
		l = &lane{key: key, target: platform.Target{ChatKey: key, Chat: addr.Chat, Topic: addr.Topic}}
		l.chat.rate = a.caps.Rates.PerChat
		a.lanes[key] = l
	}
	if chatType != "" {
		l.target.ChatType = chatType
	}
	if isGroup(l.target) {
		l.group.rate = a.caps.Rates.PerGroup
	}
	return l
}

// isGroup: negative ids are groups where the type is not known yet.
func isGroup(t platform.Target) bool {
	switch t.ChatType {
	case "group", "supergroup", "channel":
		return true
	case "":
		return strings.HasPrefix(t.Chat, "-")
	}
	return false
}

// forget drops a lane that holds nothing and whose windows no longer count.
func (a *adapter) forget(l *lane, now time.Time) {
	if len(l.queue) == 0 && !l.busy && l.draft == nil && l.chat.idle(now) && l.group.idle(now) {
		delete(a.lanes, l.key)
	}
}
