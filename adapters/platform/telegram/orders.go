package telegram

import (
	"context"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

// withOrder adds a button that sends a command to the rows below a message.
func withOrder(rows [][]button, a messages.Ask, sameRow bool) [][]button {
	if len(pressOrder+a.Order) > maxData {
		return rows // Unreachable: commands have at most messages.MaxOrder bytes
	}
	made := newButton(a.Label, pressOrder+a.Order)
	if n := len(rows); sameRow && n > 0 {
		rows[n-1] = append(rows[n-1], made)
		return rows
	}
	return append(rows, []button{made})
}

// giveOrder hands the command of a button to the chat, as if the person who pressed it had sent it
// as a reply to the message. It passes the same gate as their messages, and the chat answers it.
func (p *Platform) giveOrder(ctx context.Context, c callback, say words) {
	me := p.me.Load()
	name, args, _ := strings.Cut(strings.TrimPrefix(c.Data, pressOrder), " ")
	if me == nil || !slices.Contains(p.opts.Commands, name) {
		p.toast(ctx, c, say.UnknownRequest, true)
		return
	}
	msg := c.Message.Message
	msg.From, msg.SenderChat, msg.ReplyTo, msg.Date = c.From, nil, nil, p.opts.Now().Unix()
	msg.Text, msg.Entities, msg.Caption, msg.Rich, msg.ForwardOrigin, msg.ViaBot, msg.Media = "/"+name, nil, "", "", nil, nil, wire.Media{}
	m := mapper{account: p.opts.Account, me: *me, commands: p.opts.Commands, origin: p.moves.origin}
	x := m.message(&msg, false)
	x.in.IngressID = "button-" + c.ID
	x.in.TurnID = "u:" + string(x.in.ChatKey) + ":" + x.in.IngressID
	x.in.Kind, x.in.Command = platform.KindCommand, platform.Command{Name: name, Args: args}
	x.in.Text, x.in.Order, x.in.Answers = "/"+name+" "+args, 0, nil
	x.facts.Addressed, x.continues = botkit.AddressedCommand, false
	in := p.admit(ctx, x)
	if !in.Gate.Open {
		p.toast(ctx, c, say.MayNotUse, true)
		return
	}
	if !p.life.Offer(ctx, in) {
		p.toast(ctx, c, say.TryAgain, true)
		return
	}
	p.toast(ctx, c, "", false)
}
