package botkit

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
)

// Admission carries out the consequences of the gate's verdicts for one bot. It is safe for
// concurrent use.
type Admission struct {
	bot     string
	access  string               // who may talk to the bot in private
	store   platform.AccessStore // nil means that everybody is a stranger
	notices *hourly
	now     func() time.Time
	log     *slog.Logger

	settling sync.Mutex // locked while outcomes are shown to the owner
	settleAt time.Time  // when to retry after a failure; guarded by settling
}

// NewAdmission returns an admission for a bot that is open to the people named by access. store may
// be nil if that is everybody.
func NewAdmission(bot, access string, store platform.AccessStore, now func() time.Time, log *slog.Logger) *Admission {
	return &Admission{bot: bot, access: access, store: store, notices: newHourly(now), now: now, log: log}
}

// Request is a message that asks for admission: its inbound, which carries the gate's verdict, and
// the facts behind that verdict.
type Request struct {
	In     platform.Inbound
	Facts  Facts
	Listed bool // the settings name the group
	// Raw is the message in a form that the platform can read again. If nil, it cannot wait.
	Raw json.RawMessage
	Say notices.Words
}

func (g Request) command(name string) bool {
	return g.In.Kind == platform.KindCommand && g.In.Command.Name == name
}

// Standing asks the store for the sender's role and whether the group is allowed.
func (d *Admission) Standing(in platform.Inbound, private bool) (role string, allowed bool) {
	if d.store == nil {
		return platform.RoleStranger, false
	}
	return d.store.Role(d.bot, in.Sender.ID), !private && d.store.GroupAllowed(d.bot, in.Chat.ID)
}

// Admit carries out the consequences of the verdict on a message, and returns the message with the
// notice for people.
func (d *Admission) Admit(ctx context.Context, g Request) platform.Inbound {
	in, owner := g.In, g.Facts.Role == platform.RoleOwner
	switch {
	case g.Facts.Role == platform.RoleBlocked, !g.Facts.Private() && d.blocked(in.Chat.ID) && in.Gate.Refuse:
		in.Gate = platform.Gate{Reason: ReasonBlocked}
	case owner && g.Facts.Private() && in.Gate.Open && d.pasted(in):
		in.Kind, in.Command = platform.KindCommand, platform.Command{Name: "allow", Args: in.Text}
		g.In = in
		return d.allow(ctx, g)
	case g.command("start") && g.Facts.Private() && g.Facts.FromPerson() && in.Command.Args != "":
		return d.pair(ctx, g)
	case in.Gate.Open && in.Forwarded: // somebody else's words give no access
	case in.Gate.Open && g.command("allow"):
		return d.allow(ctx, g)
	case in.Gate.Open && !g.Facts.Private() && owner && g.Facts.Addressed != AddressedNot && !g.Facts.Allowed && !g.Listed && d.access != platform.AccessOpen:
		d.allowGroup(ctx, in)
	case in.Gate.Refuse && in.Gate.Reason == ReasonNotPaired && g.Facts.Private():
		in.Gate.Notice = d.request(ctx, g)
	case in.Gate.Refuse && in.Gate.Reason == ReasonNotAllowed && g.Facts.Addressed != AddressedNot && d.notices.pass("group "+in.Chat.ID):
		in.Gate.Notice = g.Say.GroupClosed
		d.askGroup(ctx, in)
	}
	return in
}

// pair redeems the code of /start.
func (d *Admission) pair(ctx context.Context, g Request) platform.Inbound {
	in := g.In
	code := in.Command.Args
	in.Command.Args, in.Text = "", "/start"
	if d.store == nil || g.Facts.Role == platform.RoleOwner {
		return in
	}
	got, err := d.store.Redeem(ctx, d.bot, code, in.Sender)
	switch {
	case err != nil:
		d.log.Warn("a pairing code was not taken", "user", in.Sender.ID, "error", err)
		if !in.Gate.Open && d.notices.pass("codes "+in.Sender.ID) {
			in.Gate.Notice = g.Say.TooMany
		}
	case got == platform.RoleStranger:
		if !in.Gate.Open {
			in.Gate.Notice = g.Say.BadCode
		}
	case got != g.Facts.Role:
		d.log.Info("paired", "user", in.Sender.ID, "role", got)
		lets := Lets(d.access, got)
		in.Gate = platform.Gate{Open: lets, Refuse: !lets, Reason: "paired", Notice: g.Say.ApprovedNow}
		if got == platform.RoleOwner {
			in.Gate.Notice = g.Say.OwnerNow
		}
	}
	return in
}

// allow handles /allow of the owner: in a group, or with a person's code.
func (d *Admission) allow(ctx context.Context, g Request) platform.Inbound {
	in := g.In
	switch {
	case g.Facts.Role != platform.RoleOwner:
		in.Gate = platform.Gate{Refuse: true, Reason: "owner_only", Notice: g.Say.OwnerOnly}
	case !g.Facts.Private():
		if d.allowGroup(ctx, in) {
			in.Gate.Notice = g.Say.GroupAllowed
		}
	case in.Command.Args == "":
		in.Gate.Notice = d.waiting(g.Say)
	default:
		who, ok, err := d.store.Decide(ctx, d.bot, in.Command.Args, platform.LetIn, false)
		in.Command.Args = ""
		switch {
		case err != nil:
			d.log.Error("a person could not be let in", "error", err)
			in.Gate.Notice = g.Say.BadCode
		case ok:
			in.Text, in.Gate.Notice = "/allow", notices.Fill(g.Say.Approved, nameOf(who))
		default:
			in.Gate.Notice = g.Say.BadCode
		}
	}
	return in
}

func (d *Admission) allowGroup(ctx context.Context, in platform.Inbound) bool {
	if err := d.store.AllowGroup(ctx, d.bot, in.Chat.ID, in.Chat.Title, in.Sender.ID); err != nil {
		d.log.Error("a group could not be allowed", "chat", in.Chat.ID, "error", err)
		return false
	}
	d.log.Info("group allowed", "chat", in.Chat.ID, "by", in.Sender.ID)
	return true
}
