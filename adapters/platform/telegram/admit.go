package telegram

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// admit puts a message through the gate, with what goes along: pairing, allowing
// groups and notices. Repeating it for a message delivered again does no harm.
func (p *Platform) admit(ctx context.Context, m mapped) platform.Inbound {
	in, f := m.in, m.facts
	r := p.opts.rulesFor(in.Chat.ID)
	if how := p.listens(in, f); how != "" {
		r.groups = how
	}
	f.role, f.allowed = p.standing(in, f)
	say := wordsFor(m.language)
	owner := f.role == RoleOwner
	if in.Kind == platform.KindCommand && (in.Command.Name == "allow" || in.Command.Name == "activation") && owner && f.addressed != addressedOtherBot && f.chatType != "private" {
		f.addressed = addressedCommand // the owner need not name the bot to let it in
	}
	f.recent = f.addressed == addressedNot && f.goesOn && p.follows.recent(in)
	in.Gate = gate(f, r)
	if in.Gate.Open && f.chatType != "private" && (f.addressed != addressedNot || f.recent) {
		p.follows.note(in)
	}
	if in.Kind == platform.KindCommand && f.chatType == "private" && in.Command.Name == "start" && in.Command.Args != "" && f.content == contentMessage && !f.bot {
		return p.pair(ctx, in, r, f.role, say)
	}
	switch {
	case in.Gate.Open && in.Kind == platform.KindCommand && in.Command.Name == "allow":
		return p.allow(ctx, in, f, say)
	case in.Gate.Open && in.Kind == platform.KindCommand && in.Command.Name == "activation" && f.chatType != "private":
		return p.activate(ctx, in, f, say)
	case in.Gate.Open && f.chatType != "private" && owner && f.addressed != addressedNot && !f.allowed && !r.listed && p.opts.Access != AccessOpen:
		p.allowGroup(ctx, in)
	case in.Gate.Refuse && in.Gate.Reason == reasonNotPaired && f.chatType == "private":
		in.Gate.Notice = p.requestCode(ctx, in, say)
	case in.Gate.Refuse && in.Gate.Reason == reasonNotAllowed && f.addressed != addressedNot && p.notices.pass("group "+in.Chat.ID):
		in.Gate.Notice = say.groupClosed
	}
	return in
}

// standing asks the store who the sender is and whether the group is allowed.
func (p *Platform) standing(in platform.Inbound, f facts) (Role, bool) {
	if p.opts.AccessStore == nil || f.bot || f.anonymous || f.content != contentMessage {
		return RoleStranger, false
	}
	allowed := f.chatType != "private" && p.opts.AccessStore.GroupAllowed(p.name, in.Chat.ID)
	return p.opts.AccessStore.Role(p.name, in.Sender.ID), allowed
}

// pair redeems the code of /start. The code goes no further than this.
func (p *Platform) pair(ctx context.Context, in platform.Inbound, r rules, role Role, say words) platform.Inbound {
	code := in.Command.Args
	in.Command.Args, in.Text = "", "/start"
	if p.opts.AccessStore == nil || role == RoleOwner {
		return in
	}
	got, err := p.opts.AccessStore.Redeem(ctx, p.name, code, in.Sender)
	switch {
	case err != nil:
		p.log.Warn("a pairing code was not taken", "user", in.Sender.ID, "error", err)
		if !in.Gate.Open {
			in.Gate.Notice = p.onceAnHour("codes "+in.Sender.ID, say.tooMany)
		}
	case got == RoleStranger:
		if !in.Gate.Open {
			in.Gate.Notice = say.badCode
		}
	case got != role:
		p.log.Info("paired", "user", in.Sender.ID, "role", got)
		in.Gate = platform.Gate{Open: r.lets(r.access, got), Refuse: !r.lets(r.access, got), Reason: "paired", Notice: say.approvedNow}
		if got == RoleOwner {
			in.Gate.Notice = say.ownerNow
		}
	}
	return in
}

func (p *Platform) onceAnHour(key, text string) string {
	if p.notices.pass(key) {
		return text
	}
	return ""
}

// allow is the owner's /allow in a group, or /allow with a person's code.
func (p *Platform) allow(ctx context.Context, in platform.Inbound, f facts, say words) platform.Inbound {
	switch {
	case f.role != RoleOwner:
		in.Gate = platform.Gate{Refuse: true, Reason: "owner_only", Notice: say.ownerOnly}
	case f.chatType != "private":
		if p.allowGroup(ctx, in) {
			in.Gate.Notice = say.groupAllowed
		}
	case in.Command.Args != "":
		who, ok, err := p.opts.AccessStore.Approve(ctx, p.name, in.Command.Args)
		in.Command.Args = ""
		switch {
		case err != nil:
			p.log.Error("a person could not be approved", "error", err)
			in.Gate.Notice = say.badCode
		case ok:
			in.Gate.Notice = fill(say.approved, who.Name)
		default:
			in.Gate.Notice = say.badCode
		}
	}
	return in
}

func (p *Platform) allowGroup(ctx context.Context, in platform.Inbound) bool {
	if err := p.opts.AccessStore.AllowGroup(ctx, p.name, in.Chat.ID, in.Chat.Title, in.Sender.ID); err != nil {
		p.log.Error("a group could not be allowed", "chat", in.Chat.ID, "error", err)
		return false
	}
	p.log.Info("group allowed", "chat", in.Chat.ID, "by", in.Sender.ID)
	return true
}

// requestCode is the one polite notice that a stranger gets while its code holds.
func (p *Platform) requestCode(ctx context.Context, in platform.Inbound, say words) string {
	code, fresh, err := p.opts.AccessStore.Request(ctx, p.name, in.Sender)
	if err != nil {
		p.log.Warn("no code for a stranger", "user", in.Sender.ID, "error", err)
		return ""
	}
	if !fresh {
		return ""
	}
	return fill(say.notPaired, code)
}
