package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

// choiceButtons are the buttons of an access request, which they identify by its code.
func choiceButtons(code string, a messages.Ask) [][]button {
	say := notices.For(a.Chinese)
	one := func(text string, choice platform.Choice) button {
		return newButton(text, pressChoice+choice+":"+code)
	}
	if a.Label == botkit.KindGroup {
		return [][]button{{one("✅ "+say.GroupButton, platform.LetIn), one("🚫 "+say.BlockButton, platform.Block)}}
	}
	return [][]button{
		{one("✅ "+say.InButton, platform.LetIn), one("☝️ "+say.OnceButton, platform.LetOnce)},
		{one("🚫 "+say.BlockButton, platform.Block)},
	}
}

// choose carries out a press on a button of an access request.
func (p *Platform) choose(ctx context.Context, c callback, say words) {
	choice, code, ok := strings.Cut(strings.TrimPrefix(c.Data, pressChoice), ":")
	if !ok {
		p.toast(ctx, c, say.UnknownRequest, true)
		return
	}
	by := platform.Person{ID: strconv.FormatInt(c.From.ID, 10), IsBot: c.From.IsBot}
	answer := p.admission.Choose(ctx, by, strconv.FormatInt(c.Message.Chat.ID, 10), code, choice, say.Words)
	if answer.Tone != botkit.ToneSuccess {
		p.toast(ctx, c, answer.Text, true)
		return
	}
	p.sendDue(ctx)
	p.showKeyboard(ctx, c, onlyButton(answer.Mark))
	p.toast(ctx, c, answer.Text, false)
}

// sendDue sends what is due to the owner and to people who were given access.
func (p *Platform) sendDue(ctx context.Context) {
	if !p.life.Begun() || p.me.Load() == nil {
		return
	}
	p.admission.SendDue(ctx, botkit.Bot{
		Life: p.life,
		Key: func(chat string) messages.ChatKey {
			return messages.NewChatKey("telegram", p.opts.Account, p.moves.origin(chat), 0)
		},
		Words:       func(chat messages.ChatKey, language string) notices.Words { return p.wordsOf(chat, language).Words },
		PrivateType: messages.ChatPrivate,
		Again:       p.readAgain, Settle: p.settle,
	})
}

// wordsOf returns the texts for a chat: in the language chosen there, or else in that of a person's
// client.
func (p *Platform) wordsOf(chat messages.ChatKey, language string) words {
	to, _ := chat.Address()
	return wordsFor(cmp.Or(p.opts.Language(chat), language), p.at(to.Chat))
}

// keyOf returns the key of the chat that contains a message with buttons.
func (p *Platform) keyOf(m *wire.Message) messages.ChatKey {
	return messages.NewChatKey("telegram", p.opts.Account, p.moves.origin(strconv.FormatInt(m.Chat.ID, 10)), m.Topic())
}

// readAgain maps a message that waited for the owner.
func (p *Platform) readAgain(_ context.Context, raw json.RawMessage) (platform.Inbound, bool) {
	var u update
	if json.Unmarshal(raw, &u) != nil || u.Message == nil {
		return platform.Inbound{}, false
	}
	m := mapper{account: p.opts.Account, me: *p.me.Load(), commands: p.opts.Commands, origin: p.moves.origin}
	x, ok := m.inbound(u)
	return x.in, ok
}
