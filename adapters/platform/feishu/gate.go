package feishu

import (
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// addressing is how a message in a group turns to the bot.
type addressing string

const (
	addressedNot     addressing = ""
	addressedMention addressing = "mention"
	addressedReply   addressing = "reply"
	addressedCommand addressing = "command"
)

// chatPrivate is the type of a chat with one person.
const chatPrivate = "p2p"

// facts are all that the gate looks at of a message.
type facts struct {
	chatType  string
	service   bool // nothing that somebody said: somebody joined, a title changed
	bot       bool // the sender is no person
	addressed addressing
	role      Role
	allowed   bool // the group was allowed by the owner
	named     bool // it names somebody else, perhaps another bot
}

// rules are all that the gate looks at of the settings.
type rules struct {
	access string // who may talk in private and brings the bot into groups
	always bool   // every message of this group counts
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
	case f.service:
		return ignored("service")
	case f.bot:
		return ignored("bot")
	case f.chatType == chatPrivate:
		if !botkit.Lets(r.access, f.role) {
			return platform.Gate{Refuse: true, Reason: reasonNotPaired}
		}
		return platform.Gate{Open: true, Reason: "private"}
	}
	reason := string(f.addressed)
	if f.addressed == addressedNot {
		if !r.always {
			decides := (r.listed || f.allowed) && botkit.Lets(r.member, f.role) && !f.named
			return platform.Gate{Reason: reasonUnaddressed, Decides: decides}
		}
		reason = "all"
	}
	switch {
	case !r.listed && !f.allowed && !botkit.Lets(r.access, f.role):
		return platform.Gate{Refuse: true, Reason: reasonNotAllowed}
	case !botkit.Lets(r.member, f.role):
		return platform.Gate{Refuse: true, Reason: reasonNotPaired}
	}
	return platform.Gate{Open: true, Reason: reason, Overheard: f.addressed == addressedNot}
}

func ignored(reason string) platform.Gate { return platform.Gate{Reason: reason} }

// rulesFor are the settings as they hold for a chat.
func (o Options) rulesFor(chatID string) rules {
	r := rules{access: o.Access, member: AccessOpen}
	g, ok := o.Groups[chatID]
	if !ok {
		g, ok = o.Groups["*"]
	}
	r.listed, r.always = ok, g.Addressed == AddressedAlways
	if g.Access != "" {
		r.member = g.Access
	}
	return r
}
