package platform

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Roles of a person with a bot, as an [AccessStore] knows them.
const (
	RoleStranger = ""
	RoleApproved = "approved"
	RoleOwner    = "owner"
	RoleBlocked  = "blocked" // gets no answer at all
)

// Access levels for private chats, as settings name them.
const (
	AccessOwner  = "owner"  // the owner alone
	AccessPaired = "paired" // the owner and approved people; the default
	AccessOpen   = "open"   // everybody
)

// Levels of attention in groups, as settings name them.
const (
	GroupsMention  = "mention"  // mentions, replies to the bot, commands for it; the default
	GroupsReply    = "reply"    // replies to the bot and commands for it
	GroupsCommands = "commands" // commands for it alone
	GroupsAll      = "all"      // every message
)

// Group is the rule for one group that the settings name and thereby allow.
type Group struct {
	Access    string // who in the group may talk to the bot; empty means everybody
	Addressed string // one of the Groups constants; empty means the rule for all groups
}

// AccessRules is what settings say about who may talk to a bot, and what it listens to in groups.
type AccessRules struct {
	Access string           // one of the Access constants
	Groups string           // one of the Groups constants; empty means mentions
	Listed map[string]Group // the groups that the settings name; * stands for all others
}

// Ruled is an optional part of a [Platform]: its rules of access can change while it runs. They count from the next
// message on. Invalid rules change nothing. It is safe for concurrent use.
type Ruled interface {
	SetRules(AccessRules) error
}

// Decide submits a person's decisions to a chat, like [Live].Decide.
type Decide func(ctx context.Context, key messages.ChatKey, by Person, say []messages.Decision) ([]messages.DecisionOutcome, error)

// MenuEntry is a command in the menu of a service, with its descriptions.
type MenuEntry struct {
	Command, English, Chinese string
}

// AccessStore knows who is paired with which bot; bot is [Platform.Name]. It is safe for
// concurrent use.
type AccessStore interface {
	RoleReader
	Pairing
	Asking
	Noting
	Activation
}

// RoleReader is consulted for every message. It answers from memory; when in doubt people are
// strangers and groups are not allowed.
type RoleReader interface {
	Role(bot, person string) string
	GroupAllowed(bot, chat string) bool
}

// Pairing changes who has access.
type Pairing interface {
	// Redeem spends a code that the host printed and returns the person's role. A wrong, spent or
	// expired code gives RoleStranger; repeating a code gives a paired person their existing role.
	// An error means that too many codes were tried, or that the store cannot be written.
	Redeem(ctx context.Context, bot, code string, by Person) (string, error)
	// AllowGroup gives a group access.
	AllowGroup(ctx context.Context, bot, chat, title, by string) error
}

// Asking keeps access requests and the owner's decisions on them.
type Asking interface {
	// Request records an access request from a stranger, with a code that the owner can approve and
	// the stranger's first message. fresh is false while an earlier request is pending. The code is
	// empty for a group that the bot has left since.
	Request(ctx context.Context, bot string, w AccessRequest) (code string, fresh bool, err error)
	// Decide carries out the owner's choice on the request with a code; ok is false if it is no
	// longer pending. pressed means that the caller itself replaces the button by the outcome.
	Decide(ctx context.Context, bot, code string, choice Choice, pressed bool) (who Visitor, ok bool, err error)
	// Withdraw ends the request of a group that the bot has left; left is when it left, by the
	// platform's clock.
	Withdraw(ctx context.Context, bot, group string, left time.Time) error
	// Waits returns who made the pending request with a code.
	Waits(bot, code string) (who Visitor, ok bool)
	// AccessState returns the pending requests, the people who were just given access, and the questions
	// whose buttons the owner may still see.
	AccessState(bot string) AccessState
}

// Noting records which notifications were sent.
type Noting interface {
	// Shown records that the owner was asked about a request, and Arrived that the person was
	// notified of their access.
	Shown(ctx context.Context, bot, code string) error
	Arrived(ctx context.Context, bot, code string) error
	// Asked records which message asks the owner about a request, and Settled that this message now
	// shows the outcome.
	Asked(ctx context.Context, bot, code, message string) error
	Settled(ctx context.Context, bot, code string) error
	// Meet records the id of the owner's private chat.
	Meet(ctx context.Context, bot, chat string) error
}

// Activation is what the bot listens to in each group, as one of the Groups constants.
type Activation interface {
	// Listens returns an empty string where the settings decide.
	Listens(bot, chat string) string
	// Listen also gives the group access.
	Listen(ctx context.Context, bot, chat, title, by, listens string) error
}
