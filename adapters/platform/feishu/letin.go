package feishu

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// choose carries out a press on a button of an access request.
func (p *Platform) choose(ctx context.Context, e press, c choice) pressedAnswer {
	ctx, cancel := context.WithTimeout(ctx, pressDeadline)
	defer cancel()
	by := platform.Person{ID: e.Operator.OpenID}
	answer := p.admission.Choose(ctx, by, e.Context.Chat, strings.TrimPrefix(c.ID, botkit.AskPrefix), c.Say, c.words(p.say))
	if answer.Tone != botkit.ToneSuccess {
		return toast(answer.Tone, answer.Text)
	}
	p.sendDue(ctx)
	return p.answerPress(e, c, answer, line(answer.Mark))
}

// sendDue sends what is due to the owner and to people who were given access.
func (p *Platform) sendDue(ctx context.Context) {
	if !p.life.Begun() {
		return
	}
	p.admission.SendDue(ctx, botkit.Bot{
		Life:  p.life,
		Key:   func(chat string) messages.ChatKey { return messages.NewChatKey("feishu", p.opts.Account, chat, 0) },
		Words: p.wordsOf, PrivateType: messages.ChatP2P,
		Again: p.readAgain, Settle: p.settle,
	})
}

// readAgain maps a message that waited for the owner.
func (p *Platform) readAgain(ctx context.Context, raw json.RawMessage) (platform.Inbound, bool) {
	event, err := decodeReceived(raw)
	me := p.me.Load()
	if err != nil || me == nil {
		return platform.Inbound{}, false
	}
	in := mapper{account: p.opts.Account, bot: me.OpenID, commands: p.opts.Commands}.inbound(event).in
	if event.Message.Kind == kindForwards && event.Message.Forwards == nil {
		if event.Message.Forwards, err = p.forwards(ctx, event.Message.ID); err != nil {
			return platform.Inbound{}, false
		}
		in.Parts = readContent(event.Message).parts
	}
	return in, true
}
