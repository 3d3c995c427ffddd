package feishu

import "github.com/shipmyagent/shipmyagent/adapters/platform/internal/door"

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
