package door

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Role is a person's standing with the bot, as a [Store] tells it.
type Role = string

// The roles.
const (
	RoleStranger Role = ""
	RoleApproved Role = "approved"
	RoleOwner    Role = "owner"
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
)

// KnownAccess tells whether settings name one of the rules.
func KnownAccess(s string) bool { return s == AccessOwner || s == AccessPaired || s == AccessOpen }

// Lets tells whether an access rule lets a person in.
func Lets(access string, role Role) bool {
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
	// Request gives a stranger a code that the owner can approve. fresh is false
	// while an earlier code of that person holds.
	Request(ctx context.Context, bot string, by platform.Person) (code string, fresh bool, err error)
	// Approve lets the person in whom a code of Request was given to.
	Approve(ctx context.Context, bot, code string) (who platform.Person, ok bool, err error)
	// AllowGroup lets a group in.
	AllowGroup(ctx context.Context, bot, chat, title, by string) error
}
