package botkit

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Addressing is how a message in a group addresses the bot.
type Addressing string

// The ways to address a bot.
const (
	AddressedNot      Addressing = ""
	AddressedMention  Addressing = "mention"
	AddressedReply    Addressing = "reply"
	AddressedCommand  Addressing = "command"
	AddressedOtherBot Addressing = "other_bot" // a command for another bot
)

// Content classifies a message.
type Content string

// The kinds of messages.
const (
	ContentMessage Content = ""
	ContentService Content = "service"       // somebody joined, a title changed, …
	ContentLive    Content = "live_location" // a position update of a shared location
)

// Facts are everything that the gate considers about a message.
type Facts struct {
	ChatType  string // [messages.ChatPrivate], [messages.ChatChannel]; anything else is a group
	Content   Content
	Bot       bool // the sender is a bot
	Anonymous bool // sent in the name of a chat
	Addressed Addressing
	Role      string
	Allowed   bool // the owner has allowed the group
	Named     bool // it mentions somebody else, possibly another bot
	Recent    bool // it continues a recent exchange between its sender and the bot
}

// FromPerson reports whether a person wrote the message, not a bot, a chat or the service.
func (f Facts) FromPerson() bool { return !f.Bot && !f.Anonymous && f.Content == ContentMessage }

// Private reports whether the message is in a chat with one person.
func (f Facts) Private() bool { return f.ChatType == messages.ChatPrivate }

// Rules are everything that the gate considers about the settings, for one chat.
type Rules struct {
	Access string // who may talk in private and add the bot to groups
	Groups string // what the bot listens to in this group
	Listed bool   // the settings name this group
	Member string // who may talk in this group
}

// In returns the rules for a chat. groups are the chats that the settings name; * applies to all
// others.
func (r Rules) In(chat string, groups map[string]platform.Group) Rules {
	g, ok := groups[chat]
	if !ok {
		g, ok = groups["*"]
	}
	r.Listed, r.Member = ok, cmp.Or(g.Access, platform.AccessOpen)
	r.Groups = cmp.Or(g.Addressed, r.Groups, platform.GroupsMention)
	return r
}

// Reasons of verdicts that [Admission] acts on.
const (
	ReasonNotPaired  = "not_paired"
	ReasonNotAllowed = "group_not_allowed"
	ReasonBlocked    = "blocked"
)

const reasonUnaddressed = "unaddressed"

// Gate decides whether the bot reads a message. It is pure; a test holds its truth table.
func Gate(f Facts, r Rules) platform.Gate {
	switch {
	case f.ChatType == messages.ChatChannel:
		return Ignored("channel")
	case f.Content != ContentMessage:
		return Ignored(string(f.Content))
	case f.Anonymous:
		return Ignored("anonymous")
	case f.Bot:
		return Ignored("bot")
	case f.Addressed == AddressedOtherBot:
		return Ignored(string(AddressedOtherBot))
	case !f.Private():
		return groupGate(f, r)
	case !Lets(r.Access, f.Role):
		return platform.Gate{Refuse: true, Reason: ReasonNotPaired}
	}
	return platform.Gate{Open: true, Reason: "private"}
}

func groupGate(f Facts, r Rules) platform.Gate {
	refused := ""
	switch {
	case !r.Listed && !f.Allowed && !Lets(r.Access, f.Role):
		refused = ReasonNotAllowed
	case !Lets(r.Member, f.Role):
		refused = ReasonNotPaired
	}
	known := refused == "" && (r.Listed || f.Allowed)
	switch {
	case !r.listensTo(f):
		return platform.Gate{Reason: reasonUnaddressed, Quote: known, Decides: known && !f.Named}
	case refused != "":
		return platform.Gate{Refuse: true, Reason: refused}
	case f.Addressed != AddressedNot:
		return platform.Gate{Open: true, Reason: string(f.Addressed)}
	case f.Recent && r.Groups == platform.GroupsMention:
		return platform.Gate{Open: true, Reason: "follow_up", Overheard: true}
	}
	return platform.Gate{Open: true, Reason: "all", Overheard: true}
}

// listensTo reports whether a message in a group is for the bot.
func (r Rules) listensTo(f Facts) bool {
	switch r.Groups {
	case platform.GroupsAll:
		return true
	case platform.GroupsReply:
		return f.Addressed == AddressedReply || f.Addressed == AddressedCommand
	case platform.GroupsCommands:
		return f.Addressed == AddressedCommand
	default:
		return f.Addressed != AddressedNot || f.Recent
	}
}

// Ignored is the verdict on a message that is not for the bot.
func Ignored(reason string) platform.Gate { return platform.Gate{Reason: reason} }

// Lets reports whether an access rule admits a role.
func Lets(access, role string) bool {
	switch {
	case role == platform.RoleBlocked:
		return false
	case access == platform.AccessOpen:
		return true
	case access == platform.AccessPaired:
		return role == platform.RoleOwner || role == platform.RoleApproved
	}
	return role == platform.RoleOwner
}

// CheckAccess validates the access settings.
func CheckAccess(name, access, groups string, listed map[string]platform.Group, store platform.AccessStore) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(name+": "+format, args...)) }
	if !knownAccess(access) {
		fault("access is %q, not owner, paired or open", access)
	}
	if !knownGroups(groups) {
		fault("groups is %q, not mention, reply, commands or all", groups)
	}
	for id, g := range listed {
		if g.Access != "" && !knownAccess(g.Access) || g.Addressed != "" && !knownGroups(g.Addressed) {
			fault("the rule of group %s is not valid", id)
		}
	}
	if access != platform.AccessOpen && store == nil {
		fault("closed access needs a store of who is paired")
	}
	return errors.Join(errs...)
}

func knownAccess(s string) bool {
	return s == platform.AccessOwner || s == platform.AccessPaired || s == platform.AccessOpen
}

func knownGroups(s string) bool {
	return s == platform.GroupsMention || s == platform.GroupsReply || s == platform.GroupsCommands || s == platform.GroupsAll
}
