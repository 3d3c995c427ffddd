package botkit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// TestGateTruthTable compares every combination of the gate's inputs with the rules, implemented a
// second time in plain words.
func TestGateTruthTable(t *testing.T) {
	n := 0
	for _, chatType := range []string{"private", "group", "supergroup", "channel"} {
		for _, content := range []Content{ContentMessage, ContentService, ContentLive} {
			for _, addressed := range []Addressing{AddressedNot, AddressedMention, AddressedReply, AddressedCommand, AddressedOtherBot} {
				for _, role := range []string{platform.RoleStranger, platform.RoleApproved, platform.RoleOwner} {
					for bits := range 128 {
						f := Facts{ChatType: chatType, Content: content, Addressed: addressed, Role: role, Bot: bits&1 > 0, Anonymous: bits&2 > 0, Allowed: bits&4 > 0, Recent: bits&16 > 0, Named: bits&32 > 0}
						for _, access := range []string{platform.AccessOwner, platform.AccessPaired, platform.AccessOpen} {
							for _, member := range []string{platform.AccessOwner, platform.AccessPaired, platform.AccessOpen} {
								for _, groups := range []string{platform.GroupsMention, platform.GroupsReply, platform.GroupsCommands, platform.GroupsAll} {
									r := Rules{Access: access, Member: member, Groups: groups, Listed: bits&8 > 0}
									n++
									if want, got := expected(f, r), Gate(f, r); !reflect.DeepEqual(want, got) {
										t.Fatalf("%+v under %+v (-want +got):\n%s", f, r, cmp.Diff(want, got))
									}
								}
							}
						}
					}
				}
			}
		}
	}
	if n != 4*3*5*3*128*3*3*4 {
		t.Errorf("%d combinations", n)
	}
}

// expected is the documented verdict.
func expected(f Facts, r Rules) platform.Gate {
	trusted := func(access string) bool {
		return map[string]map[string]bool{
			platform.AccessOwner:  {platform.RoleOwner: true},
			platform.AccessPaired: {platform.RoleOwner: true, platform.RoleApproved: true},
			platform.AccessOpen:   {platform.RoleOwner: true, platform.RoleApproved: true, platform.RoleStranger: true},
		}[access][f.Role]
	}
	group := f.ChatType != "private"
	nothing := map[bool]string{
		f.Addressed == AddressedOtherBot: "other_bot",
		f.Bot:                            "bot",
	}[true]
	if f.Bot {
		nothing = "bot"
	}
	if f.Anonymous {
		nothing = "anonymous"
	}
	if f.Content != ContentMessage {
		nothing = string(f.Content)
	}
	if f.ChatType == "channel" {
		nothing = "channel"
	}
	mute := group && !map[string]bool{
		platform.GroupsMention:  f.Addressed != AddressedNot || f.Recent,
		platform.GroupsReply:    f.Addressed == AddressedReply || f.Addressed == AddressedCommand,
		platform.GroupsCommands: f.Addressed == AddressedCommand,
		platform.GroupsAll:      true,
	}[r.Groups]
	known := r.Listed || f.Allowed
	switch {
	case nothing != "":
		return platform.Gate{Reason: nothing}
	case mute:
		return platform.Gate{Reason: "unaddressed", Quote: known && trusted(r.Member), Decides: known && trusted(r.Member) && !f.Named}
	case !group && !trusted(r.Access):
		return platform.Gate{Refuse: true, Reason: "not_paired"}
	case !group:
		return platform.Gate{Open: true, Reason: "private"}
	case !r.Listed && !f.Allowed && !trusted(r.Access):
		return platform.Gate{Refuse: true, Reason: "group_not_allowed"}
	case !trusted(r.Member):
		return platform.Gate{Refuse: true, Reason: "not_paired"}
	case f.Addressed == AddressedNot && f.Recent && r.Groups == platform.GroupsMention:
		return platform.Gate{Open: true, Reason: "follow_up", Overheard: true}
	case f.Addressed == AddressedNot:
		return platform.Gate{Open: true, Reason: "all", Overheard: true}
	}
	return platform.Gate{Open: true, Reason: string(f.Addressed)}
}

// The rules of a chat are those for it in the settings, or else those for all groups.
func TestRulesOfAChat(t *testing.T) {
	rules := Rules{Access: platform.AccessPaired}
	listed := map[string]platform.Group{"-1": {Access: platform.AccessOwner, Addressed: platform.GroupsAll}, "-2": {}}
	star := map[string]platform.Group{"*": {Addressed: platform.GroupsAll}}
	for _, c := range []struct {
		name   string
		groups map[string]platform.Group
		chat   string
		want   Rules
	}{
		{"not listed", listed, "-9", Rules{Access: platform.AccessPaired, Groups: platform.GroupsMention, Member: platform.AccessOpen}},
		{"listed with rules", listed, "-1", Rules{Access: platform.AccessPaired, Groups: platform.GroupsAll, Member: platform.AccessOwner, Listed: true}},
		{"listed", listed, "-2", Rules{Access: platform.AccessPaired, Groups: platform.GroupsMention, Member: platform.AccessOpen, Listed: true}},
		{"all others", star, "-9", Rules{Access: platform.AccessPaired, Groups: platform.GroupsAll, Member: platform.AccessOpen, Listed: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rules.In(c.chat, c.groups); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := (Rules{Groups: platform.GroupsReply}).In("-2", listed); got.Groups != platform.GroupsReply {
		t.Errorf("what holds for all groups is lost: %+v", got)
	}
}

// Meaningless settings are reported.
func TestCheckAccess(t *testing.T) {
	for _, c := range []struct {
		access, groups string
		group          platform.Group
		want           string
	}{
		{"open", "all", platform.Group{}, ""},
		{"all", "all", platform.Group{}, `"all"`},
		{"open", "some", platform.Group{}, `"some"`},
		{"open", "mention", platform.Group{Access: "x"}, "group -1"},
		{"open", "mention", platform.Group{Addressed: "x"}, "group -1"},
		{"paired", "mention", platform.Group{}, "needs a store"},
	} {
		err := CheckAccess("sample", c.access, c.groups, map[string]platform.Group{"-1": c.group}, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
