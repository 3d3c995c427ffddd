package telegram

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// TestGateTruthTable goes through every combination of what the gate looks at
// and compares it with the rules, written down once more in plain words.
func TestGateTruthTable(t *testing.T) {
	n := 0
	for _, chatType := range []string{"private", "group", "supergroup", "channel"} {
		for _, content := range []content{contentMessage, contentService, contentLive} {
			for _, addressed := range []addressing{addressedNot, addressedMention, addressedReply, addressedCommand, addressedOtherBot} {
				for _, role := range []Role{RoleStranger, RoleApproved, RoleOwner} {
					for bits := range 64 {
						f := facts{chatType: chatType, content: content, addressed: addressed, role: role, bot: bits&1 > 0, anonymous: bits&2 > 0, allowed: bits&4 > 0, recent: bits&16 > 0, named: bits&32 > 0}
						for _, access := range []string{AccessOwner, AccessPaired, AccessOpen} {
							for _, member := range []string{AccessOwner, AccessPaired, AccessOpen} {
								for _, groups := range []string{GroupsMention, GroupsReply, GroupsCommands, GroupsAll} {
									r := rules{access: access, member: member, groups: groups, listed: bits&8 > 0}
									n++
									if diff := cmp.Diff(expected(f, r), gate(f, r)); diff != "" {
										t.Fatalf("%+v under %+v (-want +got):\n%s", f, r, diff)
									}
								}
							}
						}
					}
				}
			}
		}
	}
	if n != 4*3*5*3*64*3*3*4 {
		t.Errorf("%d combinations", n)
	}
}

// expected is what people were promised.
func expected(f facts, r rules) platform.Gate {
	trusted := func(access string) bool {
		return map[string]map[Role]bool{
			AccessOwner:  {RoleOwner: true},
			AccessPaired: {RoleOwner: true, RoleApproved: true},
			AccessOpen:   {RoleOwner: true, RoleApproved: true, RoleStranger: true},
		}[access][f.role]
	}
	group := f.chatType != "private"
	nothing := map[bool]string{
		f.addressed == addressedOtherBot: "other_bot",
		f.bot:                            "bot",
	}[true]
	if f.bot {
		nothing = "bot"
	}
	if f.anonymous {
		nothing = "anonymous"
	}
	if f.content != contentMessage {
		nothing = string(f.content)
	}
	if f.chatType == "channel" {
		nothing = "channel"
	}
	mute := group && !map[string]bool{
		GroupsMention:  f.addressed != addressedNot || f.recent,
		GroupsReply:    f.addressed == addressedReply || f.addressed == addressedCommand,
		GroupsCommands: f.addressed == addressedCommand,
		GroupsAll:      true,
	}[r.groups]
	known := r.listed || f.allowed
	switch {
	case nothing != "":
		return platform.Gate{Reason: nothing}
	case mute:
		return platform.Gate{Reason: "unaddressed", Quote: known && trusted(r.member), Decides: known && trusted(r.member) && !f.named}
	case !group && !trusted(r.access):
		return platform.Gate{Refuse: true, Reason: "not_paired"}
	case !group:
		return platform.Gate{Open: true, Reason: "private"}
	case !r.listed && !f.allowed && !trusted(r.access):
		return platform.Gate{Refuse: true, Reason: "group_not_allowed"}
	case !trusted(r.member):
		return platform.Gate{Refuse: true, Reason: "not_paired"}
	case f.addressed == addressedNot && f.recent && r.groups == GroupsMention:
		return platform.Gate{Open: true, Reason: "follow_up", Overheard: true}
	case f.addressed == addressedNot:
		return platform.Gate{Open: true, Reason: "all", Overheard: true}
	}
	return platform.Gate{Open: true, Reason: string(f.addressed)}
}

func TestRulesFor(t *testing.T) {
	o := Options{Access: AccessPaired, Groups: GroupsMention, Listed: map[string]Group{"-1": {Access: AccessOwner, Addressed: GroupsAll}, "-2": {}}}
	star := o
	star.Listed = map[string]Group{"*": {Addressed: GroupsAll}}
	cases := []struct {
		name string
		o    Options
		chat string
		want rules
	}{
		{"not listed", o, "-9", rules{access: AccessPaired, groups: GroupsMention, member: AccessOpen}},
		{"listed with rules", o, "-1", rules{access: AccessPaired, groups: GroupsAll, member: AccessOwner, listed: true}},
		{"listed", o, "-2", rules{access: AccessPaired, groups: GroupsMention, member: AccessOpen, listed: true}},
		{"all others", star, "-9", rules{access: AccessPaired, groups: GroupsAll, member: AccessOpen, listed: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.o.rulesFor(c.chat); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
