package feishu

import "github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"

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
