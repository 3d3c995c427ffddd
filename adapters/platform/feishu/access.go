package feishu

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Role is a person's standing with the bot, as an [AccessStore] tells it.
type Role = string

// The roles.
const (
	RoleStranger Role = ""
	RoleApproved Role = "approved"
	RoleOwner    Role = "owner"
)

// AccessStore knows who is paired with which bot; bot is [Platform.Name]. It is
// safe for concurrent use.
type AccessStore interface {
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
