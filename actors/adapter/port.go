package adapter

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// acceptDeadline bounds how long a chat may take to make a turn durable. It
// covers an activation from the store under load.
const acceptDeadline = 60 * time.Second

// lastWords is how much longer a caller waits for an answer after its context has ended.
// Most chats answer within that time, and a platform that stops must not wait for one
// that hangs.
const lastWords = time.Second

// Port implements [platform.Host] and [platform.Live] for a platform by asking the adapter actor of
// its account. It is safe for concurrent use.
type Port struct {
	root    *actor.RootContext
	adapter *actor.PID
	opts    PortOptions
}

// PortOptions configure a [Port].
type PortOptions struct {
	// OnStatus is called with the platform's own report of whether it works. It may be nil.
	OnStatus func(up bool, note string)
	Platform string
}

// NewPort connects a platform to its adapter actor.
func NewPort(system *actor.ActorSystem, adapterPID *actor.PID, o PortOptions) *Port {
	return &Port{root: system.Root, adapter: adapterPID, opts: o}
}

var _ platform.Live = (*Port)(nil)

// Status implements [platform.Host].
func (p *Port) Status(up bool, note string) {
	if up {
		p.root.Send(p.adapter, reachable{})
	}
	if p.opts.OnStatus != nil {
		p.opts.OnStatus(up, note)
	}
}

// Accept implements [platform.Host].
func (p *Port) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	reply, err := p.reply(ctx, p.root.RequestFuture(p.adapter, handover{in}, acceptDeadline+lastWords))
	if t, ok := reply.(accepted); ok && len(t.results) == len(in) {
		return t.results
	}
	if err == nil {
		err = platform.ErrUnavailable // the actor was restarted while it had the batch
	}
	return slices.Repeat([]platform.Result{{Err: err}}, len(in))
}

// History implements [platform.Live].
func (p *Port) History(ctx context.Context, key messages.ChatKey) (platform.ChatView, error) {
	reply, err := p.ask(ctx, messages.ViewQuery{ChatKey: key})
	if err != nil {
		return platform.ChatView{}, err
	}
	v, ok := reply.(messages.ViewReply)
	if !ok || v.Err != "" {
		return platform.ChatView{}, errors.Join(platform.ErrUnavailable, errors.New(v.Err))
	}
	return platform.ChatView{
		Messages: v.Messages, Waiting: v.Waiting, Running: v.Running,
		Counts: platform.Counts{Accepted: v.Accepted, Open: v.Open, Fates: v.Fates, Pending: v.Pending},
	}, nil
}

// Stop implements [platform.Live].
func (p *Port) Stop(ctx context.Context, key messages.ChatKey, by platform.Person, all bool) (bool, error) {
	reply, err := p.ask(ctx, messages.StopRun{ChatKey: key, By: by.ID, All: all})
	if err != nil {
		return false, err
	}
	s, ok := reply.(messages.RunStopped)
	if !ok || s.Err != "" {
		return false, errors.Join(platform.ErrUnavailable, errors.New(s.Err))
	}
	return s.Was, nil
}

// Rewind implements [platform.Live].
func (p *Port) Rewind(ctx context.Context, key messages.ChatKey, keep string) error {
	reply, err := p.ask(ctx, messages.RewindChat{ChatKey: key, Keep: keep})
	if err != nil {
		return err
	}
	switch r, _ := reply.(messages.ChatRewound); r.Reason {
	case "":
		return nil
	case "busy":
		return platform.ErrBusy
	case "not_found":
		return platform.ErrNotFound
	default:
		return errors.Join(platform.ErrUnavailable, errors.New(r.Reason))
	}
}

// Decide implements [platform.Live].
func (p *Port) Decide(ctx context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	var wait time.Duration
	if until, ok := ctx.Deadline(); ok {
		wait = max(time.Until(until), 1)
	}
	reply, err := p.ask(ctx, messages.DecideApproval{
		Wait:    wait,
		ChatKey: key, RequestID: rand.Text(), By: messages.Asker{Platform: p.opts.Platform, ID: by.ID, Name: by.Name}, Say: say,
	})
	if err != nil {
		return nil, err
	}
	d, ok := reply.(messages.ApprovalDecided)
	if !ok || d.Err != "" || len(d.Outcomes) != len(say) {
		return nil, errors.Join(platform.ErrUnavailable, errors.New(d.Err))
	}
	return d.Outcomes, nil
}

// ask sends one question to a chat.
func (p *Port) ask(ctx context.Context, about messages.Addressed) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.reply(ctx, p.root.RequestFuture(p.adapter, question{about}, acceptDeadline))
}

// reply waits for an answer until ctx has ended, and [lastWords] longer. An answer that arrives
// later is dropped.
func (*Port) reply(ctx context.Context, f *actor.Future) (any, error) {
	type answer struct {
		reply any
		err   error
	}
	done := make(chan answer, 1)
	pipe.Home{}.Go(func() any {
		reply, err := f.Result()
		done <- answer{reply, err}
		return nil
	}, func(failed pipe.Panicked) any {
		done <- answer{err: failed}
		return nil
	})
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case a = <-done:
		case <-timer.C:
			a.err = ctx.Err()
		}
	}
	if a.err != nil {
		return nil, errors.Join(platform.ErrUnavailable, a.err)
	}
	return a.reply, nil
}
