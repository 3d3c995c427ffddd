package feishu

import (
	"context"
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// admit applies the gate to a message and carries out the consequences: pairing, allowing groups
// and notices. Repeating it for a redelivered message is harmless.
func (p *Platform) admit(ctx context.Context, m mapped, event received) platform.Inbound {
	in, f, r := m.in, m.facts, p.admission.Rules(m.in.Chat.ID, "")
	in.Sender.Language = writtenIn(in)
	private := f.Private()
	if f.FromPerson() {
		f.Role, f.Allowed = p.admission.RoleOf(in, private)
	}
	if in.Kind == platform.KindCommand && in.Command.Name == "allow" && f.Role == platform.RoleOwner && f.Addressed == botkit.AddressedNot {
		f.Addressed = botkit.AddressedCommand // the owner need not mention the bot to give the group access
	}
	in.Gate = botkit.Gate(f, r)
	say := p.say
	if in.Kind == platform.KindCommand || in.Gate.Refuse || private && f.Role == platform.RoleOwner { // nobody else reads our texts
		say = p.wordsOf(in.ChatKey, in.Sender.Language)
	}
	var raw json.RawMessage
	if in.Gate.Refuse && private && in.Kind == platform.KindMessage {
		raw, _ = json.Marshal(event) // if it cannot be encoded, its sender has to send it again
	}
	in = p.admission.Admit(ctx, botkit.Request{Raw: raw, In: in, Facts: f, Listed: r.Listed, Say: say})
	if private && in.Gate.Open {
		p.admission.RecordOwnersChat(ctx, in)
	}
	if in.Sender.Language == "" && p.say.IsChinese {
		in.Sender.Language = langChinese // as in our texts
	}
	return in
}

// chatType returns the type of a chat as the gate knows it.
func chatType(service string) string {
	if messages.IsPrivate(service) {
		return messages.ChatPrivate
	}
	return service
}
