package telegram

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

// admit applies the gate to a message and carries out the consequences: pairing, allowing groups
// and notices. Repeating it for a redelivered message is harmless.
func (p *Platform) admit(ctx context.Context, m mapped) platform.Inbound {
	in, f := m.in, m.facts
	r := p.admission.Rules(in.Chat.ID, p.listens(in, f))
	private := f.Private()
	if f.FromPerson() {
		f.Role, f.Allowed = p.admission.RoleOf(in, private)
		if now := p.moves.current(in.Chat.ID); !private && !f.Allowed && now != in.Chat.ID { // allowed as a supergroup?
			_, f.Allowed = p.admission.RoleOf(platform.Inbound{Chat: platform.ChatInfo{ID: now}}, false)
		}
	}
	language := m.language
	if in.Kind == platform.KindCommand || private && f.Role == platform.RoleOwner {
		language = cmp.Or(p.opts.Language(in.ChatKey), language)
	}
	say := wordsFor(language, p.at(in.Chat.ID))
	if in.Kind == platform.KindCommand && (in.Command.Name == "allow" || in.Command.Name == "activation") && f.Role == platform.RoleOwner && f.Addressed != botkit.AddressedOtherBot && !private {
		f.Addressed = botkit.AddressedCommand // the owner need not mention the bot to give the group access
	}
	f.Recent = f.Addressed == botkit.AddressedNot && m.continues && p.follows.Within(followKey(in))
	in.Gate = botkit.Gate(f, r)
	if in.Gate.Open && !private && (f.Addressed != botkit.AddressedNot || f.Recent) {
		p.follows.Note(followKey(in))
	}
	if in.Gate.Open && in.Kind == platform.KindCommand && in.Command.Name == "activation" && !private && !in.Forwarded {
		return p.activate(ctx, in, f, say)
	}
	if in.Answers != nil && !in.ToBot && in.EditOf == "" && in.Kind != platform.KindCommand {
		in.Parts = append(in.Parts, wire.PictureOf(m.msg, private)...)
	}
	var raw json.RawMessage
	if in.Gate.Refuse && private && in.Kind == platform.KindMessage {
		raw, _ = json.Marshal(update{Message: m.msg}) // if it cannot be encoded, its sender has to send it again
	}
	in = p.admission.Admit(ctx, botkit.Request{Raw: raw, In: in, Facts: f, Say: say.Words})
	if in.Gate.Refuse && in.Gate.Reason == botkit.ReasonNotAllowed && in.Gate.Notice != "" && p.opts.Decide != nil {
		in.Gate.Asks = []messages.Ask{{ApprovalID: askAllow}}
	}
	return in
}
