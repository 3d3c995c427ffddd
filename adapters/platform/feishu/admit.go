package feishu

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// admit puts a message through the gate, with what goes along: pairing, allowing
// groups and notices. Repeating it for a message that comes again does no harm.
func (p *Platform) admit(ctx context.Context, m mapped) platform.Inbound {
	in, f := m.in, m.facts
	r := p.opts.rulesFor(in.Chat.ID)
	f.role, f.allowed = p.standing(in, f)
	private, owner := f.chatType == chatPrivate, f.role == RoleOwner
	allow := in.Kind == platform.KindCommand && in.Command.Name == "allow"
	if allow && owner && f.addressed == addressedNot {
		f.addressed = addressedCommand // the owner need not name the bot to let it in
	}
	in.Gate = gate(f, r)
	if in.Kind == platform.KindCommand && private && in.Command.Name == "start" && in.Command.Args != "" && !f.bot {
		return p.pair(ctx, in, r, f.role)
	}
	switch {
	case in.Gate.Open && allow:
		return p.allow(ctx, in, f)
	case in.Gate.Open && !private && owner && f.addressed != addressedNot && !f.allowed && !r.listed && p.opts.Access != AccessOpen:
		p.allowGroup(ctx, in)
	case in.Gate.Refuse && in.Gate.Reason == reasonNotPaired && private:
		in.Gate.Notice = p.requestCode(ctx, in)
	case in.Gate.Refuse && in.Gate.Reason == reasonNotAllowed && f.addressed != addressedNot && p.notices.pass("group "+in.Chat.ID):
		in.Gate.Notice = p.say.groupClosed
	}
	return in
}

// standing asks the store who the sender is and whether the group is allowed.
func (p *Platform) standing(in platform.Inbound, f facts) (Role, bool) {
	if p.opts.AccessStore == nil || f.bot || f.service {
		return RoleStranger, false
	}
	allowed := f.chatType != chatPrivate && p.opts.AccessStore.GroupAllowed(p.name, in.Chat.ID)
	return p.opts.AccessStore.Role(p.name, in.Sender.ID), allowed
}

// pair redeems the code of /start. The code goes no further than this.
func (p *Platform) pair(ctx context.Context, in platform.Inbound, r rules, role Role) platform.Inbound {
	code := in.Command.Args
	in.Command.Args, in.Text = "", "/start"
	if p.opts.AccessStore == nil || role == RoleOwner {
		return in
	}
	got, err := p.opts.AccessStore.Redeem(ctx, p.name, code, in.Sender)
	switch {
	case err != nil:
		p.log.Warn("a pairing code was not taken", "user", in.Sender.ID, "error", err)
		if !in.Gate.Open && p.notices.pass("codes "+in.Sender.ID) {
			in.Gate.Notice = p.say.tooMany
		}
	case got == RoleStranger:
		if !in.Gate.Open {
			in.Gate.Notice = p.say.badCode
		}
	case got != role:
		p.log.Info("paired", "user", in.Sender.ID, "role", got)
		in.Gate = platform.Gate{Open: lets(r.access, got), Refuse: !lets(r.access, got), Reason: "paired", Notice: p.say.approvedNow}
		if got == RoleOwner {
			in.Gate.Notice = p.say.ownerNow
		}
	}
	return in
}

// allow is the owner's /allow in a group, or /allow with a person's code.
func (p *Platform) allow(ctx context.Context, in platform.Inbound, f facts) platform.Inbound {
	switch {
	case f.role != RoleOwner:
		in.Gate = platform.Gate{Refuse: true, Reason: "owner_only", Notice: p.say.ownerOnly}
	case f.chatType != chatPrivate:
		if p.allowGroup(ctx, in) {
			in.Gate.Notice = p.say.groupAllowed
		}
	case in.Command.Args != "":
		who, ok, err := p.opts.AccessStore.Approve(ctx, p.name, in.Command.Args)
		in.Command.Args = ""
		switch {
		case err != nil:
			p.log.Error("a person could not be approved", "error", err)
			in.Gate.Notice = p.say.badCode
		case ok:
			in.Gate.Notice = fill(p.say.approved, who.Name)
		default:
			in.Gate.Notice = p.say.badCode
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
func (p *Platform) requestCode(ctx context.Context, in platform.Inbound) string {
	code, fresh, err := p.opts.AccessStore.Request(ctx, p.name, in.Sender)
	if err != nil {
		p.log.Warn("no code for a stranger", "user", in.Sender.ID, "error", err)
		return ""
	}
	if !fresh {
		return ""
	}
	return fill(p.say.notPaired, code)
}
