package adapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// acceptDeadline bounds how long a chat may take to make a turn durable. It
// covers an activation from the store under load.
const acceptDeadline = 60 * time.Second

// lastWords is how much longer an answer is waited for once the caller's context has
// ended: a platform that stops must not wait for a chat that hangs, and most are quick.
const lastWords = time.Second

// Port is what a platform is given: [platform.Host] and [platform.Live] on top
// of the actors. It is safe for concurrent use.
type Port struct {
	root    *actor.RootContext
	router  *actor.PID
	adapter *actor.PID
	opts    PortOptions
}

// PortOptions of a [Port].
type PortOptions struct {
	// OnStatus hears how the platform does.
	OnStatus func(up bool, note string)
	Metrics  *Metrics
	Platform string
}

// NewPort connects a platform to its adapter actor.
func NewPort(system *actor.ActorSystem, router, adapterPID *actor.PID, o PortOptions) *Port {
	return &Port{root: system.Root, router: router, adapter: adapterPID, opts: o}
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

// Accept implements [platform.Host]. All are asked at once, in order, so that
// chats make their turns durable side by side.
func (p *Port) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	futures := make([]*actor.Future, len(in))
	for i := range in {
		futures[i] = p.root.RequestFuture(p.router, command(in[i]), acceptDeadline)
	}
	out, ok := inTime(ctx, func() []platform.Result {
		out := make([]platform.Result, len(in))
		for i, f := range futures {
			out[i] = accepted(f)
			p.opts.Metrics.ingress(p.opts.Platform, in[i], out[i])
		}
		return out
	})
	if !ok { // what is taken all the same is known when it comes again
		out = slices.Repeat([]platform.Result{{Err: errors.Join(platform.ErrUnavailable, ctx.Err())}}, len(in))
	}
	return out
}

// inTime is what work gives; false: ctx has ended, and it takes longer than [lastWords].
func inTime[T any](ctx context.Context, work func() T) (out T, ok bool) {
	done := make(chan T, 1)
	pipe.Home{}.Go(func() any {
		done <- work()
		return nil
	}, func(pipe.Panicked) any {
		close(done)
		return nil
	})
	select {
	case out, ok = <-done:
		return out, ok
	case <-ctx.Done():
	}
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case out, ok = <-done:
	case <-timer.C:
	}
	return out, ok
}

func accepted(f *actor.Future) platform.Result {
	reply, err := f.Result()
	if err != nil {
		return platform.Result{Err: errors.Join(platform.ErrUnavailable, err)}
	}
	switch r := reply.(type) {
	case messages.IngressAccepted:
		return platform.Result{TurnID: r.TurnID, Duplicate: r.Duplicate, Declined: r.Declined, Answer: r.Answer}
	case messages.IngressRejected:
		return platform.Result{Err: errors.Join(platform.ErrUnavailable, errors.New(r.Reason))}
	}
	return platform.Result{Err: platform.ErrUnavailable}
}

// command maps an inbound to what the chat understands.
func command(in platform.Inbound) messages.AcceptIngress {
	cmd := messages.AcceptIngress{
		ChatKey: in.ChatKey, RequestID: in.RequestID, IngressID: in.IngressID, Verdict: messages.VerdictOpen,
		Reason: in.Gate.Reason, Notice: in.Gate.Notice, Asks: in.Gate.Asks, EditOf: in.EditOf, Bot: in.Sender.IsBot, Forwarded: in.Forwarded, Admin: in.Sender.Admin, Quote: in.Gate.Quote, Decides: in.Gate.Decides,
		Order: in.Order, ToBot: in.ToBot, Elsewhere: in.Elsewhere, Overheard: in.Gate.Overheard, Self: in.Self, Command: in.Command.Name, Args: in.Command.Args,
	}
	switch {
	case in.Kind == platform.KindTakenBack:
		cmd.Verdict = messages.VerdictTakenBack
	case in.Gate.Refuse:
		cmd.Verdict = messages.VerdictRefused
	case !in.Gate.Open:
		cmd.Verdict = messages.VerdictIgnored
	case in.Kind == platform.KindCommand:
		cmd.Verdict = messages.VerdictCommand
	}
	cmd.Turn = turn(in)
	return cmd
}

// turn is the user turn of an inbound; its words are untouched.
func turn(in platform.Inbound) uimessage.Message {
	meta := uimessage.Metadata{
		TS: in.Time.UnixMilli(), ChatKey: string(in.ChatKey), ChatID: in.Chat.ID, ChatType: in.Chat.Type, ChatTitle: in.Chat.Title,
		UserID: in.Sender.ID, Username: in.Sender.Name, MessageID: in.MessageID, MessageThreadID: in.Chat.ThreadID, ReplyTo: in.ReplyTo,
		RequestID: in.RequestID, Kind: uimessage.KindNormal, Source: uimessage.SourceIngress, IngressID: in.IngressID, EditOf: in.EditOf, Album: in.Album,
	}
	if a, ok := in.ChatKey.Address(); ok {
		meta.Channel = a.Platform
	}
	if value, err := json.Marshal(in.Answers); in.Answers != nil && err == nil {
		meta.Extra = append(meta.Extra, uimessage.Member{Name: uimessage.AnsweredMember, Value: value})
	}
	m := uimessage.Message{ID: in.TurnID, Role: uimessage.RoleUser, Metadata: meta.Append(nil)}
	if m.ID == "" {
		m.ID = "u:" + string(in.ChatKey) + ":" + in.MessageID
		if in.Kind == platform.KindEdit || in.Kind == platform.KindTakenBack {
			m.ID = "u:" + string(in.ChatKey) + ":" + strings.ReplaceAll(in.IngressID, "/", "-")
		}
	}
	at := min(max(in.TextAt, 0), len(in.Parts))
	m.Parts = append(m.Parts, in.Parts[:at]...)
	if in.Text != "" {
		m.Parts = append(m.Parts, uimessage.Text{Text: in.Text})
	}
	m.Parts = append(m.Parts, in.Parts[at:]...)
	return m
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
		ChatKey: key, RequestID: rand.Text(), By: messages.Asker{Platform: p.opts.Platform, ID: by.ID, Name: by.Name}, Admin: by.Admin, Say: say,
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

// ask puts one question to a chat.
func (p *Port) ask(ctx context.Context, question messages.Addressed) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.reply(ctx, p.root.RequestFuture(p.router, question, acceptDeadline))
}

// reply is what comes of a question.
func (*Port) reply(ctx context.Context, f *actor.Future) (any, error) {
	type answer struct {
		reply any
		err   error
	}
	a, ok := inTime(ctx, func() answer {
		reply, err := f.Result()
		return answer{reply, err}
	})
	switch {
	case !ok:
		return nil, errors.Join(platform.ErrUnavailable, ctx.Err())
	case a.err != nil:
		return nil, errors.Join(platform.ErrUnavailable, a.err)
	}
	return a.reply, nil
}
