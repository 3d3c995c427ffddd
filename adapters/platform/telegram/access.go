package telegram

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// Role is a person's standing with the bot, as an [AccessStore] tells it.
type Role = botkit.Role

// The roles.
const (
	RoleStranger = botkit.RoleStranger
	RoleApproved = botkit.RoleApproved
	RoleOwner    = botkit.RoleOwner
)

// AccessStore knows who is paired with which bot; bot is [Platform.Name]. It is
// safe for concurrent use.
type AccessStore = botkit.Store

// Activation is what an [AccessStore] may keep beside: what the bot listens to in each
// group, as one of [GroupsMention], [GroupsReply], [GroupsCommands] and [GroupsAll].
type Activation interface {
	// Listens is empty where the settings hold.
	Listens(bot, chat string) string
	// Listen lets the group in, too.
	Listen(ctx context.Context, bot, chat, title, by, listens string) error
}
