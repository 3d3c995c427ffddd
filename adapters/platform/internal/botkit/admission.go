package botkit

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

// maxHourly is the minimum number of keys kept. With more, somebody may get a notice twice within
// an hour.
const maxHourly = 10_000

// Admission carries out the consequences of the gate's verdicts for one bot. It is safe for
// concurrent use.
type Admission struct {
	bot     string
	rules   atomic.Pointer[platform.AccessRules]
	store   platform.AccessStore // nil means that everybody is a stranger
	notices *recent.Times        // what people were told within the hour
	now     func() time.Time
	log     *slog.Logger

	settling sync.Mutex // locked while outcomes are shown to the owner
	settleAt time.Time  // when to retry after a failure; guarded by settling
}

// NewAdmission returns an admission for a bot that is open to the people whom the rules name. store may be nil if that
// is everybody.
func NewAdmission(bot string, rules platform.AccessRules, store platform.AccessStore, now func() time.Time, log *slog.Logger) *Admission {
	d := &Admission{bot: bot, store: store, notices: recent.NewTimes(maxHourly, time.Hour, now), now: now, log: log}
	d.rules.Store(&rules)
	return d
}

// SetRules implements [platform.Ruled].
func (d *Admission) SetRules(rules platform.AccessRules) error {
	if err := CheckAccess(d.bot, rules.Access, cmp.Or(rules.Groups, platform.GroupsMention), rules.Listed, d.store); err != nil {
		return err
	}
	d.rules.Store(&rules)
	return nil
}

// Rules are the rules for a chat. listens is what the owner has the bot listen to there, if not what the settings say.
func (d *Admission) Rules(chat, listens string) Rules {
	r := d.rules.Load()
	return Rules{Access: r.Access, Groups: cmp.Or(listens, r.Groups)}.In(chat, r.Listed)
}

func (d *Admission) access() string { return d.rules.Load().Access }

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

// RoleOf asks the store for the sender's role and whether the group is allowed.
func (d *Admission) RoleOf(in platform.Inbound, private bool) (role string, allowed bool) {
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
	case in.Gate.Open && !g.Facts.Private() && owner && g.Facts.Addressed != AddressedNot && !g.Facts.Allowed && !g.Listed && d.access() != platform.AccessOpen:
		d.allowGroup(ctx, in)
	case in.Gate.Refuse && in.Gate.Reason == ReasonNotPaired && g.Facts.Private():
		in.Gate.Notice = d.request(ctx, g)
	case in.Gate.Refuse && in.Gate.Reason == ReasonNotAllowed && g.Facts.Addressed != AddressedNot && d.notices.Pass("group "+in.Chat.ID):
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
		if !d.notices.Pass("codes " + in.Sender.ID) {
			break
		}
		d.log.Warn("a pairing code was not taken", "user", in.Sender.ID, "error", err)
		if !in.Gate.Open {
			in.Gate.Notice = g.Say.TooMany
		}
	case got == platform.RoleStranger:
		if !in.Gate.Open {
			in.Gate.Notice = g.Say.BadCode
		}
	case got != g.Facts.Role:
		d.log.Info("a person was paired", "user", in.Sender.ID, "role", got)
		lets := Lets(d.access(), got)
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
	d.log.Info("a group was allowed", "chat", in.Chat.ID, "by", in.Sender.ID)
	return true
}
