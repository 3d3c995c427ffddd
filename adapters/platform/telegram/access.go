package telegram

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/door"
)

// Role is a person's standing with the bot, as an [AccessStore] tells it.
type Role = door.Role

// The roles.
const (
	RoleStranger = door.RoleStranger
	RoleApproved = door.RoleApproved
	RoleOwner    = door.RoleOwner
)

// AccessStore knows who is paired with which bot; bot is [Platform.Name]. It is
// safe for concurrent use.
type AccessStore = door.Store

// Activation is what an [AccessStore] may keep beside: what the bot listens to in each
// group, as one of [GroupsMention], [GroupsReply], [GroupsCommands] and [GroupsAll].
type Activation interface {
	// Listens is empty where the settings hold.
	Listens(bot, chat string) string
	// Listen lets the group in, too.
	Listen(ctx context.Context, bot, chat, title, by, listens string) error
}
