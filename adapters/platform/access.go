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

// Who may talk to a bot, as settings say it.
const (
	AccessOwner  = "owner"  // the owner alone
	AccessPaired = "paired" // the owner and approved people; the default
	AccessOpen   = "open"   // everybody
)

// What a bot listens to in groups, as settings say it.
const (
	GroupsMention  = "mention"  // mentions, replies to the bot, commands for it; the default
	GroupsReply    = "reply"    // replies to the bot and commands for it
	GroupsCommands = "commands" // commands for it alone
	GroupsAll      = "all"      // every message
)

// Group is the rule of one group that the settings name, which lets it in.
type Group struct {
	Access    string // who of it may talk to the bot; empty: everybody
	Addressed string // one of the Groups constants; empty: as in all groups
}

// Decide brings a person's decisions to a chat, as [Live] does.
type Decide func(ctx context.Context, key messages.ChatKey, by Person, say []messages.Decision) ([]messages.DecisionOutcome, error)

// MenuEntry is a command that a service lists to people, with what it does.
type MenuEntry struct {
	Command, English, Chinese string
}

// AccessStore knows who is paired with which bot; bot is [Platform.Name]. It is safe for
// concurrent use.
type AccessStore interface {
	Standing
	Pairing
	Asking
	Noting
}

// Standing is asked about every message. It answers from memory; when in doubt
// people are strangers and groups are not allowed.
type Standing interface {
	Role(bot, person string) string
	GroupAllowed(bot, chat string) bool
}

// Pairing changes who is let in.
type Pairing interface {
	// Redeem spends a code that the host printed and returns the person's role.
	// A code that is wrong, spent or expired gives RoleStranger; repeating it
	// gives a person who is paired the role they have. An error means that too
	// many codes were tried, or that the store cannot be written.
	Redeem(ctx context.Context, bot, code string, by Person) (string, error)
	// AllowGroup lets a group in.
	AllowGroup(ctx context.Context, bot, chat, title, by string) error
}

// Asking keeps who wants to be let in, and what the owner says to it.
type Asking interface {
	// Request keeps a stranger's wish to be let in, with a code that the owner can approve
	// and their first message. fresh is false while an earlier one waits. The code is empty
	// for a group that the bot has left since.
	Request(ctx context.Context, bot string, w Wish) (code string, fresh bool, err error)
	// Decide does what the owner chose about the request with a code; false: it does not
	// wait any more. pressed: who calls shows the outcome in the place of the button.
	Decide(ctx context.Context, bot, code string, choice Choice, pressed bool) (who Visitor, ok bool, err error)
	// Withdraw ends the request of a group that the bot is not in any more; left is since
	// when, by the platform's clock.
	Withdraw(ctx context.Context, bot, group string, left time.Time) error
	// Waits tells whether a code is that of somebody who waits.
	Waits(bot, code string) (who Visitor, ok bool)
	// Guests has the requests that wait, the people who were just let in, and the questions
	// whose buttons the owner may still see.
	Guests(bot string) Guests
}

// Noting keeps what was said to whom.
type Noting interface {
	// Shown notes that the owner was asked about a request, and Arrived that somebody was
	// told that they are let in.
	Shown(ctx context.Context, bot, code string) error
	Arrived(ctx context.Context, bot, code string) error
	// Asked keeps which message asks the owner about a request, and Settled that the owner
	// sees there how it ended.
	Asked(ctx context.Context, bot, code, message string) error
	Settled(ctx context.Context, bot, code string) error
	// Meet keeps the id of the owner's private chat.
	Meet(ctx context.Context, bot, chat string) error
}

// Activation is what an [AccessStore] may also keep: what the bot listens to in each group,
// as one of the Groups constants.
type Activation interface {
	// Listens is empty where the settings decide.
	Listens(bot, chat string) string
	// Listen lets the group in, too.
	Listen(ctx context.Context, bot, chat, title, by, listens string) error
}
