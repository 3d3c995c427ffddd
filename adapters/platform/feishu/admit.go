package feishu

import (
	"context"
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// admit puts a message through the gate, with what goes along: pairing, allowing
// groups and notices. Repeating it for a message that comes again does no harm.
func (p *Platform) admit(ctx context.Context, m mapped, event received) platform.Inbound {
	in, f := m.in, m.facts
	r := p.opts.rulesFor(in.Chat.ID)
	private, somebody := f.chatType == chatPrivate, !f.bot && !f.service
	if somebody {
		f.role, f.allowed = p.admission.Standing(in, private)
	}
	if in.Kind == platform.KindCommand && in.Command.Name == "allow" && f.role == RoleOwner && f.addressed == addressedNot {
		f.addressed = addressedCommand // the owner need not name the bot to let it in
	}
	in.Gate = gate(f, r)
	var raw json.RawMessage
	if in.Gate.Refuse && private && in.Kind == platform.KindMessage {
		raw, _ = json.Marshal(event) // what cannot be kept is sent again
	}
	in = p.admission.Admit(ctx, botkit.Guest{
		Raw: raw, In: in, Private: private, Person: somebody, Role: f.role, Addressed: f.addressed != addressedNot,
		Allowed: f.allowed, Listed: r.listed, Say: p.wordsIn(in),
	})
	if private && in.Gate.Open {
		p.admission.Met(ctx, in)
	}
	return in
}
