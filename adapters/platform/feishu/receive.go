package feishu

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/lines"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// askTimeout bounds the request for who sent the message that another one replies to.
	askTimeout = time.Second
	// identifyTimeout bounds the request for the bot's identity.
	identifyTimeout = 10 * time.Second
)

// receiver is one run of Receive.
type receiver struct {
	p      *Platform
	intake *botkit.Intake[received]
	lines  lines.Lines
	status *botkit.Status
	// life ends with Receive; events do not outlive it.
	life     context.Context //nolint:containedctx // of the receiver, whose events come from outside
	handling sync.WaitGroup  // events of long connections
}

// Receive implements [platform.Platform]. It returns nil once ctx has ended.
func (p *Platform) Receive(ctx context.Context, host platform.Host) error {
	ctx, cancel := context.WithCancel(ctx)
	status := &botkit.Status{Host: host}
	in := p.newIntake(status)
	p.life.Begin(ctx, host)
	defer p.life.Wait()
	defer in.Close()
	r := &receiver{p: p, intake: in, status: status, life: ctx}
	defer r.handling.Wait()
	defer cancel()
	err := r.begin(ctx)
	if err == nil {
		p.sendDue(ctx) // what an earlier run could not send
	}
	if err == nil && p.opts.Webhook != nil {
		err = r.serveHook(ctx)
	} else if err == nil {
		err = r.keepLink(ctx)
	} else if p.opts.Webhook != nil {
		_ = p.opts.Webhook.Listener.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case isSecretRefused(err):
		r.status.Set(false, ErrSecret.Error())
		return &platform.Error{Reason: platform.SendAuth, Err: ErrSecret}
	}
	return err
}

type arrival = botkit.Arrival[received]

// newIntake returns the intake for one run of Receive. The service redelivers unanswered events.
func (p *Platform) newIntake(status *botkit.Status) *botkit.Intake[received] {
	return botkit.NewIntake(botkit.IntakeOptions[received]{
		Status: status, StateDir: p.opts.StateDir, Patience: p.opts.Patience, Redelivers: true, Read: decodeReceived, Now: time.Now, SetAside: p.metrics.parked, Log: p.log,
		Map: func(ctx context.Context, events []received) (out []arrival) {
			for _, e := range events {
				a, _ := p.arrival(ctx, e) // what was set aside is taken in any case
				out = append(out, a)
			}
			return out
		},
	})
}

// begin asks for the bot's identity until it succeeds, and loads what was set aside.
func (r *receiver) begin(ctx context.Context) error {
	for tries := 0; ; tries++ {
		err := r.p.identify(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil || isSecretRefused(err) {
			return err
		}
		if r.status.Set(false, "the service cannot be reached or refuses the app") {
			r.p.log.Warn("messages cannot be received; it is tried again", "error", err)
		}
		retry.Wait(ctx, retry.Pause(tries))
	}
	return r.intake.Open(ctx)
}

// identify asks the service for the bot's identity.
func (p *Platform) identify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	got, err := api.Call[struct {
		Bot identity `json:"bot"`
	}](ctx, p.client, api.Request{Method: http.MethodGet, Path: "/open-apis/bot/v3/info"})
	if err != nil {
		return err
	}
	if got.Bot.OpenID == "" {
		return &api.CallError{Call: "/open-apis/bot/v3/info", Err: errNoBot}
	}
	p.me.Store(&got.Bot)
	return nil
}

// arrival maps a message and applies the gate to it. An error says that what was forwarded is missing.
func (p *Platform) arrival(ctx context.Context, event received) (_ arrival, err error) {
	msg := &event.Message
	me := p.me.Load()
	if me == nil {
		me = &identity{}
	}
	m := mapper{account: p.opts.Account, bot: me.OpenID, commands: p.opts.Commands}
	if msg.Recalled {
		return arrival{Event: event, In: m.recalled(*msg)}, nil
	}
	if msg.ToUs == nil && msg.Parent != "" {
		ours := p.isOurs(ctx, msg.Parent)
		msg.ToUs = &ours
	}
	event.Sender.Name = p.names.Of(ctx, event.Sender.ID.OpenID)
	in := p.admit(ctx, m.inbound(event), event)
	if in.Gate.Open && msg.Kind == kindForwards && msg.Forwards == nil {
		msg.Forwards, err = p.forwards(ctx, msg.ID)
		in.Parts = readContent(*msg).parts
	}
	return arrival{Event: event, In: in}, err
}

// isOurs reports whether the bot sent a message. It is false if that is unknown.
func (p *Platform) isOurs(ctx context.Context, id string) bool {
	if ours, ok := p.ours.Get(id); ok {
		return ours
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	got, err := api.Get[listing](ctx, p.client, api.MessagePath(id), nil)
	if err != nil {
		p.log.Warn("the sender of the message that is replied to could not be read", "error", err)
		return false
	}
	ours := len(got.Items) > 0 && got.Items[0].Sender.ID == p.opts.AppID
	p.ours.Put(id, ours)
	return ours
}

// handler handles one event and returns the answer. After an error the service redelivers the
// event.
type handler func(context.Context) (answer any, err error)

// prepare accepts a decrypted event. An event for a chat takes its place in the chat's line here,
// so the handler has to be called, exactly once.
func (r *receiver) prepare(e envelope) handler {
	m := r.p.metrics.events
	switch e.Header.Kind {
	case eventMessage, eventRecall:
		event, err := decodeArrived(e.Header.Kind, e.Event)
		if err != nil {
			return r.unreadable(e)
		}
		place := r.lines.Join(messages.NewChatKey("feishu", r.p.opts.Account, event.Message.Chat, 0))
		return func(ctx context.Context) (any, error) {
			defer place.Leave()
			return r.guarded(e, func() (any, error) { return r.arrived(ctx, place, event) })
		}
	case eventAdded, eventDeleted, eventDisbanded:
		return r.membership(e)
	case eventPress:
		m.WithLabelValues("button").Inc()
		return func(ctx context.Context) (any, error) {
			return r.guarded(e, func() (any, error) {
				if answer, ok := r.ordered(ctx, e); ok {
					return answer, nil
				}
				return r.p.pressed(ctx, e.Event), nil
			})
		}
	}
	m.WithLabelValues("other").Inc()
	return nothing
}

// unreadable skips an event, because a redelivery could not be read either.
func (r *receiver) unreadable(e envelope) handler {
	r.p.metrics.events.WithLabelValues("unreadable").Inc()
	r.p.log.Error("an event could not be read and is skipped", "event_id", botkit.Tidy(e.Header.ID, maxID))
	return nothing
}

// nothing answers an event that needs no action.
func nothing(context.Context) (any, error) { return struct{}{}, nil }

// arrived makes a message durable once its turn has come.
func (r *receiver) arrived(ctx context.Context, at *lines.Place, event received) (any, error) {
	err := at.Await(ctx)
	if err == nil {
		a, lacks := r.p.arrival(ctx, event)
		if err = lacks; err == nil || r.p.opts.Now().Sub(event.Message.time()) > forwardsWithin {
			err = r.intake.Deliver(ctx, []arrival{a})
		}
	}
	if err != nil {
		r.p.metrics.events.WithLabelValues("refused").Inc()
		return nil, err
	}
	kind := "message"
	if event.Message.Recalled {
		kind = "taken_back"
	}
	r.p.metrics.events.WithLabelValues(kind).Inc()
	r.p.sendDue(ctx)
	return struct{}{}, nil
}

// guarded answers an event that caused a panic, because a redelivery would cause it again.
func (r *receiver) guarded(e envelope, do func() (any, error)) (answer any, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.p.metrics.events.WithLabelValues("panic").Inc()
			r.p.log.Error("an event made the platform panic and is skipped", "event_id", botkit.Tidy(e.Header.ID, maxID), "panic", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			answer, err = struct{}{}, nil
		}
	}()
	return do()
}

// decodeEnvelope decodes what the service delivers.
func decodeEnvelope(raw []byte) (envelope, error) {
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return envelope{}, errEvent
	}
	return e, nil
}

// stale reports whether a time differs from now by more than an event's may.
func stale(at, now time.Time) bool {
	d := now.Sub(at)
	return d > maxAge || d < -maxAge
}
