package adapter

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// handover is a batch of messages from the platform's receiver. It is answered with
// [taken] once every chat has answered.
type handover struct{ in []platform.Inbound }

// accepted answers a [handover] with one result for each message. Without results the actor was
// restarted while it had the batch, and the receiver has to hand it over again.
type accepted struct{ results []platform.Result }

// question is anything else that the platform asks a chat. The chat answers the port.
type question struct{ messages.Addressed }

// take asks the chats of a batch, all at once and in the order of the batch. The mailbox
// keeps batches in order, so each chat gets its messages in the order in which the
// receiver read them, and no chat waits until another one has answered. The batch is
// answered, and the platform may confirm it, when the turn of every message is durable
// or refused.
func (a *adapter) take(ac actor.Context, msg handover) {
	receiver, root := ac.Sender(), ac.ActorSystem().Root
	a.receiver = receiver
	results := make([]platform.Result, len(msg.in))
	left := len(msg.in)
	if left == 0 {
		ac.Respond(accepted{results})
	}
	for i := range msg.in {
		in := &msg.in[i]
		f := ac.RequestFuture(a.Router, command(*in), acceptDeadline)
		ac.ReenterAfter(f, func(reply any, err error) {
			results[i] = result(reply, err)
			a.Metrics.ingress(a.Platform.Name(), in, results[i])
			if left--; left == 0 {
				root.Send(receiver, accepted{results})
			}
		})
	}
}

// resume answers the receiver whose batch the actor had when it panicked, without results. The
// receiver repeats the batch, and chats that got the messages before recognise them.
func (a *adapter) resume(ac actor.Context) {
	if a.receiver != nil {
		ac.Send(a.receiver, accepted{})
		a.receiver = nil
	}
}

// result returns the outcome of one message.
func result(reply any, err error) platform.Result {
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

// command maps an inbound message to the chat's command.
func command(in platform.Inbound) messages.AcceptIngress {
	cmd := messages.AcceptIngress{
		ChatKey: in.ChatKey, RequestID: in.RequestID, IngressID: in.IngressID, Verdict: messages.VerdictOpen,
		Reason: in.Gate.Reason, Notice: in.Gate.Notice, Asks: in.Gate.Asks, EditOf: in.EditOf, Bot: in.Sender.IsBot, Forwarded: in.Forwarded, Quote: in.Gate.Quote, Decides: in.Gate.Decides,
		Order: in.Order, ToBot: in.ToBot, Elsewhere: in.Elsewhere, Overheard: in.Gate.Overheard, Chinese: strings.HasPrefix(strings.ToLower(in.Sender.Language), "zh"), Command: in.Command.Name, Args: in.Command.Args,
	}
	switch {
	case in.Kind == platform.KindRecalled:
		cmd.Verdict = messages.VerdictRecalled
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

// turn returns the user turn of an inbound message, with its text unchanged.
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
	if in.Forwarded {
		meta.Extra = append(meta.Extra, uimessage.Member{Name: uimessage.ForwardedMember, Value: json.RawMessage("true")})
	}
	m := uimessage.Message{ID: in.TurnID, Role: uimessage.RoleUser, Metadata: meta.Append(nil)}
	if m.ID == "" {
		m.ID = "u:" + string(in.ChatKey) + ":" + in.MessageID
		if in.Kind == platform.KindEdit || in.Kind == platform.KindRecalled {
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
