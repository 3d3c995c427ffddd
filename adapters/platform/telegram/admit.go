package telegram

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// admit puts a message through the gate, with what goes along: pairing, allowing
// groups and notices. Repeating it for a message delivered again does no harm.
func (p *Platform) admit(ctx context.Context, m mapped) platform.Inbound {
	in, f := m.in, m.facts
	r := p.opts.rulesFor(in.Chat.ID)
	if how := p.listens(in, f); how != "" {
		r.groups = how
	}
	private, somebody := f.chatType == "private", !f.bot && !f.anonymous && f.content == contentMessage
	if somebody {
		f.role, f.allowed = p.admission.Standing(in, private)
	}
	if now := p.moves.current(in.Chat.ID); somebody && !private && !f.allowed && now != in.Chat.ID { // asked about as what it has become
		_, f.allowed = p.admission.Standing(platform.Inbound{Chat: platform.ChatInfo{ID: now}}, false)
	}
	language := m.language
	if in.Kind == platform.KindCommand && p.opts.Language != nil {
		language = cmp.Or(p.opts.Language(in.ChatKey), language)
	}
	say := wordsFor(language)
	if in.Kind == platform.KindCommand && (in.Command.Name == "allow" || in.Command.Name == "activation") && f.role == RoleOwner && f.addressed != addressedOtherBot && !private {
		f.addressed = addressedCommand // the owner need not name the bot to let it in
	}
	f.recent = f.addressed == addressedNot && f.goesOn && p.follows.recent(in)
	in.Gate = gate(f, r)
	if in.Gate.Open && !private && (f.addressed != addressedNot || f.recent) {
		p.follows.note(in)
	}
	if in.Gate.Open && in.Kind == platform.KindCommand && in.Command.Name == "activation" && !private {
		return p.activate(ctx, in, f, say)
	}
	if in.Answers != nil && !private && !p.mayQuote(in, r) {
		in.Answers = nil
	}
	if in.Answers != nil && in.Answers.From != "you" && in.EditOf == "" && in.Kind != platform.KindCommand {
		in.Parts = append(in.Parts, pictureOf(m.msg, private)...)
	}
	var raw json.RawMessage
	if in.Gate.Refuse && private && in.Kind == platform.KindMessage {
		raw, _ = json.Marshal(update{Message: m.msg}) // what cannot be kept is sent again
	}
	in = p.admission.Admit(ctx, botkit.Guest{
		Raw: raw, In: in, Private: private, Person: somebody, Role: f.role, Addressed: f.addressed != addressedNot,
		Allowed: f.allowed, Listed: r.listed, Say: say.Words,
	})
	if in.Gate.Refuse && in.Gate.Reason == reasonNotAllowed && in.Gate.Notice != "" && p.opts.Decide != nil {
		in.Gate.Asks = []messages.Ask{{ApprovalID: askAllow}}
	}
	return in
}
