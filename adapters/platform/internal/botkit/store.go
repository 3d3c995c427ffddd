package botkit

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Role is a person's standing with the bot, as a [Store] tells it.
type Role = string

// The roles.
const (
	RoleStranger Role = ""
	RoleApproved Role = "approved"
	RoleOwner    Role = "owner"
	RoleBlocked  Role = "blocked" // gets no answer at all
)

// Who may talk to a bot, as settings say it.
const (
	AccessOwner  = "owner"  // the owner alone
	AccessPaired = "paired" // the owner and approved people
	AccessOpen   = "open"   // everybody
)

// Reasons of gates that the door acts on.
const (
	ReasonNotPaired  = "not_paired"
	ReasonNotAllowed = "group_not_allowed"
	ReasonBlocked    = "blocked"
)

// KnownAccess tells whether settings name one of the rules.
func KnownAccess(s string) bool { return s == AccessOwner || s == AccessPaired || s == AccessOpen }

// Lets tells whether an access rule lets a person in.
func Lets(access string, role Role) bool {
	if role == RoleBlocked {
		return false
	}
	switch access {
	case AccessOpen:
		return true
	case AccessPaired:
		return role == RoleOwner || role == RoleApproved
	default:
		return role == RoleOwner
	}
}

// Store knows who is paired with which bot; bot is [platform.Platform.Name]. It is
// safe for concurrent use.
type Store interface {
	Standing
	Pairing
	Asking
	Noting
}

// Standing is asked about every message. It answers from memory; when in doubt
// people are strangers and groups are not allowed.
type Standing interface {
	Role(bot, person string) Role
	GroupAllowed(bot, chat string) bool
}

// Pairing changes who is let in.
type Pairing interface {
	// Redeem spends a code that the host printed and returns the person's role.
	// A code that is wrong, spent or expired gives RoleStranger; repeating it
	// gives a person who is paired the role they have. An error means that too
	// many codes were tried, or that the store cannot be written.
	Redeem(ctx context.Context, bot, code string, by platform.Person) (Role, error)
	// AllowGroup lets a group in.
	AllowGroup(ctx context.Context, bot, chat, title, by string) error
}

// Asking keeps who wants to be let in, and what the owner says to it.
type Asking interface {
	// Request keeps a stranger's wish to be let in, with a code that the owner can approve
	// and their first message. fresh is false while an earlier one waits. The code is empty
	// for a group that the bot has left since.
	Request(ctx context.Context, bot string, w platform.Wish) (code string, fresh bool, err error)
	// Decide does what the owner chose about the request with a code; false: it does not
	// wait any more. pressed: who calls shows the outcome in the place of the button.
	Decide(ctx context.Context, bot, code string, choice platform.Choice, pressed bool) (who platform.Visitor, ok bool, err error)
	// Withdraw ends the request of a group that the bot is not in any more; left is since
	// when, by the platform's clock.
	Withdraw(ctx context.Context, bot, group string, left time.Time) error
	// Waits tells whether a code is that of somebody who waits.
	Waits(bot, code string) (who platform.Visitor, ok bool)
	// Guests has the requests that wait, the people who were just let in, and the questions
	// whose buttons the owner may still see.
	Guests(bot string) platform.Guests
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
