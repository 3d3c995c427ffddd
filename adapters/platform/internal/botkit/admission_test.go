package botkit

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// book is a store in memory.
type book struct {
	platform.AccessStore // nil: methods not defined below are not called
	roles                map[string]string
	groups               map[string]bool
	asked                map[string]bool
	err                  error // returned by every change
}

func (b *book) Role(_, person string) string     { return b.roles[person] }
func (b *book) GroupAllowed(_, chat string) bool { return b.groups[chat] }

func (b *book) Redeem(_ context.Context, _, code string, by platform.Person) (string, error) {
	if b.err == nil && code == "GOODCODE" {
		b.roles[by.ID] = platform.RoleOwner
	}
	return b.roles[by.ID], b.err
}

func (b *book) Request(_ context.Context, _ string, w platform.AccessRequest) (string, bool, error) {
	fresh := !b.asked[w.Who.ID]
	b.asked[w.Who.ID] = true
	return "ASKCODE", fresh, b.err
}

func (b *book) Decide(_ context.Context, _, code string, _ platform.Choice, _ bool) (platform.Visitor, bool, error) {
	if code == "LINKCODE" {
		return platform.Visitor{ID: "3", Name: "[x](https://evil.example)"}, true, b.err
	}
	return platform.Visitor{ID: "2", Name: "Bob"}, code == "ASKCODE", b.err
}

func (b *book) AllowGroup(_ context.Context, _, chat, _, _ string) error {
	if b.err == nil {
		b.groups[chat] = true
	}
	return b.err
}

var _ platform.AccessStore = (*book)(nil)

func refused(reason string) platform.Gate { return platform.Gate{Refuse: true, Reason: reason} }
func open(reason string) platform.Gate    { return platform.Gate{Open: true, Reason: reason} }

func message(g platform.Gate) platform.Inbound {
	return platform.Inbound{Kind: platform.KindMessage, Chat: platform.ChatInfo{ID: "9"}, Sender: platform.Person{ID: "1"}, Text: "hi", Gate: g}
}

func order(name, args string, g platform.Gate) platform.Inbound {
	in := message(g)
	in.Kind, in.Command, in.Text = platform.KindCommand, platform.Command{Name: name, Args: args}, "/"+name+" "+args
	return in
}

func TestAdmit(t *testing.T) {
	say := notices.English("")
	private := func(role string, in platform.Inbound) Request {
		return Request{In: in, Facts: Facts{ChatType: messages.ChatPrivate, Role: role, Addressed: AddressedMention}, Say: say}
	}
	group := func(role string, in platform.Inbound) Request {
		g := private(role, in)
		g.Facts.ChatType = "group"
		return g
	}
	unaddressed := group(platform.RoleOwner, message(open("all")))
	unaddressed.Facts.Addressed = AddressedNot
	bot := private(platform.RoleStranger, order("start", "GOODCODE", refused("bot")))
	bot.Facts.Bot = true
	listed := group(platform.RoleOwner, message(open("mention")))
	listed.Listed = true
	noted := func(g platform.Gate, notice string) platform.Gate { g.Notice = notice; return g }
	for _, c := range []struct {
		name    string
		request Request
		err     error
		want    platform.Gate
		again   string // the notice when the message is repeated
		allowed bool   // whether the group is allowed afterwards
	}{
		{"a stranger gets a code once", private("", message(refused(ReasonNotPaired))), nil, noted(refused(ReasonNotPaired), notices.Fill(say.NotPaired, "ASKCODE")), "", false},
		{"no code can be given", private("", message(refused(ReasonNotPaired))), errors.New("full"), refused(ReasonNotPaired), "", false},
		{"a group is told once an hour", group("", message(refused(ReasonNotAllowed))), nil, noted(refused(ReasonNotAllowed), say.GroupClosed), "", false},
		{"the owner brings the bot in", group(platform.RoleOwner, message(open("mention"))), nil, open("mention"), "", true},
		{"not by talking to others", unaddressed, nil, open("all"), "", false},
		{"nor where the settings say it", listed, nil, open("mention"), "", false},
		{"/allow in a group", group(platform.RoleOwner, order("allow", "", open("command"))), nil, noted(open("command"), say.GroupAllowed), say.GroupAllowed, true},
		{"/allow that is not kept says nothing", group(platform.RoleOwner, order("allow", "", open("command"))), errors.New("disk"), open("command"), "", false},
		{"/allow of somebody else", group(platform.RoleApproved, order("allow", "", open("command"))), nil, noted(refused("owner_only"), say.OwnerOnly), say.OwnerOnly, false},
		{"/allow with a code", private(platform.RoleOwner, order("allow", "ASKCODE", open("private"))), nil, noted(open("private"), "“Bob” (2) may use me now."), "“Bob” (2) may use me now.", false},
		{"/allow with the code of a name that is markup", private(platform.RoleOwner, order("allow", "LINKCODE", open("private"))), nil, noted(open("private"), `“\[x\]\(https\:\/\/evil\.example\)” (3) may use me now.`), `“\[x\]\(https\:\/\/evil\.example\)” (3) may use me now.`, false},
		{"/allow with a wrong code", private(platform.RoleOwner, order("allow", "WRONG", open("private"))), nil, noted(open("private"), say.BadCode), say.BadCode, false},
		{"/start with the owner's code", private("", order("start", "GOODCODE", refused(ReasonNotPaired))), nil, noted(open("paired"), say.OwnerNow), say.OwnerNow, false},
		{"/start with a wrong code", private("", order("start", "WRONG", refused(ReasonNotPaired))), nil, noted(refused(ReasonNotPaired), say.BadCode), say.BadCode, false},
		{"too many codes", private("", order("start", "WRONG", refused(ReasonNotPaired))), errors.New("too many"), noted(refused(ReasonNotPaired), say.TooMany), "", false},
		{"a bot does not pair", bot, nil, refused("bot"), "", false},
		{"nor anybody in a group", group("", order("start", "GOODCODE", refused(ReasonNotPaired))), nil, refused(ReasonNotPaired), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &book{roles: map[string]string{}, groups: map[string]bool{}, asked: map[string]bool{}, err: c.err}
			d := NewAdmission("telegram", platform.AccessRules{Access: platform.AccessPaired}, b, time.Now, slog.New(slog.DiscardHandler))
			got := d.Admit(t.Context(), c.request)
			stdtest.Diff(t, "", c.want, got.Gate)
			if strings.Contains(got.Text+got.Command.Args, "GOODCODE") && c.request.Facts.Private() && c.request.Facts.FromPerson() {
				t.Errorf("the code goes on: %+v", got)
			}
			if again := d.Admit(t.Context(), c.request).Gate.Notice; again != c.again {
				t.Errorf("again: %q, want %q", again, c.again)
			}
			if b.groups["9"] != c.allowed {
				t.Errorf("the group is allowed: %t", b.groups["9"])
			}
		})
	}
}

func TestLets(t *testing.T) {
	for _, c := range []struct {
		access                    string
		stranger, approved, owner bool
	}{
		{platform.AccessOpen, true, true, true}, {platform.AccessPaired, false, true, true}, {platform.AccessOwner, false, false, true}, {"", false, false, true},
	} {
		if Lets(c.access, platform.RoleStranger) != c.stranger || Lets(c.access, platform.RoleApproved) != c.approved || Lets(c.access, platform.RoleOwner) != c.owner {
			t.Errorf("%q lets in the wrong people", c.access)
		}
		if known := knownAccess(c.access); known != (c.access != "") {
			t.Errorf("%q is known: %t", c.access, known)
		}
	}
}

// TestRoleOf checks that without a store everybody is a stranger, and that only groups are looked
// up as groups.
func TestRoleOf(t *testing.T) {
	b := &book{roles: map[string]string{"1": platform.RoleOwner}, groups: map[string]bool{"9": true}}
	d := NewAdmission("telegram", platform.AccessRules{Access: platform.AccessPaired}, b, time.Now, slog.New(slog.DiscardHandler))
	if role, allowed := d.RoleOf(message(platform.Gate{}), false); role != platform.RoleOwner || !allowed {
		t.Errorf("in a group: %q, %t", role, allowed)
	}
	if role, allowed := d.RoleOf(message(platform.Gate{}), true); role != platform.RoleOwner || allowed {
		t.Errorf("in private: %q, %t", role, allowed)
	}
	if role, allowed := NewAdmission("telegram", platform.AccessRules{Access: platform.AccessOpen}, nil, time.Now, slog.New(slog.DiscardHandler)).RoleOf(message(platform.Gate{}), false); role != platform.RoleStranger || allowed {
		t.Errorf("without a store: %q, %t", role, allowed)
	}
}
