package telegram

import (
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// addressing is how a message in a group turns to the bot.
type addressing string

const (
	addressedNot      addressing = ""
	addressedMention  addressing = "mention"
	addressedReply    addressing = "reply"
	addressedCommand  addressing = "command"
	addressedOtherBot addressing = "other_bot" // a command for another bot
)

// content is what kind of thing a message is.
type content string

const (
	contentMessage content = ""
	contentService content = "service"       // somebody joined, a title changed, …
	contentLive    content = "live_location" // the next place of a shared location
)

// facts are all that the gate looks at of a message.
type facts struct {
	chatType  string
	content   content
	bot       bool // the sender is a bot
	anonymous bool // sent in the name of a chat
	addressed addressing
	role      Role
	allowed   bool // the group was allowed by the owner
	goesOn    bool // it reads as if it went on with something
	named     bool // it names somebody else, perhaps another bot
	recent    bool // it goes on with what its sender and the bot have just spoken of
}

// rules are all that the gate looks at of the settings.
type rules struct {
	access string // who may talk in private and brings the bot into groups
	groups string // GroupsMention, GroupsReply, GroupsCommands or GroupsAll, of this group
	listed bool   // the settings name this group
	member string // who may talk in this group
}

// Reasons of closed gates.
const (
	reasonUnaddressed = "unaddressed"
	reasonNotPaired   = botkit.ReasonNotPaired
	reasonNotAllowed  = botkit.ReasonNotAllowed
)

// gate decides who is heard. It is pure; its truth table is a test.
func gate(f facts, r rules) platform.Gate {
	switch {
	case f.chatType == "channel":
		return ignored("channel")
	case f.content != contentMessage:
		return ignored(string(f.content))
	case f.anonymous:
		return ignored("anonymous")
	case f.bot:
		return ignored("bot")
	case f.addressed == addressedOtherBot:
		return ignored(string(addressedOtherBot))
	case f.chatType == "private":
		if !botkit.Lets(r.access, f.role) {
			return platform.Gate{Refuse: true, Reason: reasonNotPaired}
		}
		return platform.Gate{Open: true, Reason: "private"}
	}
	return groupGate(f, r)
}

func groupGate(f facts, r rules) platform.Gate {
	reason := string(f.addressed)
	if f.addressed == addressedNot {
		reason = "all"
		if f.recent && r.groups == GroupsMention {
			reason = "follow_up"
		}
	}
	refused := ""
	switch {
	case !r.listed && !f.allowed && !botkit.Lets(r.access, f.role):
		refused = reasonNotAllowed
	case !botkit.Lets(r.member, f.role):
		refused = reasonNotPaired
	}
	switch {
	case !r.hears(f):
		return platform.Gate{
			Reason: reasonUnaddressed, Quote: refused == "" && (r.listed || f.allowed), Decides: refused == "" && (r.listed || f.allowed) && !f.named,
		}
	case refused != "":
		return platform.Gate{Refuse: true, Reason: refused}
	}
	return platform.Gate{Open: true, Reason: reason, Overheard: f.addressed == addressedNot}
}

// hears tells whether a message in a group is for the bot.
func (r rules) hears(f facts) bool {
	switch r.groups {
	case GroupsAll:
		return true
	case GroupsReply:
		return f.addressed == addressedReply || f.addressed == addressedCommand
	case GroupsCommands:
		return f.addressed == addressedCommand
	default:
		return f.addressed != addressedNot || f.recent
	}
}

func ignored(reason string) platform.Gate { return platform.Gate{Reason: reason} }

// rulesFor are the settings as they hold for a chat.
func (o Options) rulesFor(chatID string) rules {
	r := rules{access: o.Access, groups: o.Groups, member: AccessOpen}
	g, ok := o.Listed[chatID]
	if !ok {
		g, ok = o.Listed["*"]
	}
	r.listed = ok
	if g.Access != "" {
		r.member = g.Access
	}
	if g.Addressed != "" {
		r.groups = g.Addressed
	}
	return r
}
