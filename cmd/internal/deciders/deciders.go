// Package deciders says who may decide about approval requests, whom to ask in private, and where they are reached.
//
// It promises that a role which cannot be verified counts as none: an unknown person, an unreachable platform or an
// unreadable log of tasks never allows a decision. It does not know what is requested, nor how decisions are recorded.
package deciders

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// The names of approvers that stand for groups of people, and of the platforms whose users own the machine.
const (
	approverOwner     = "owner"
	approverInitiator = "initiator"
	approverAdmins    = "platformAdmins"
	nameWeb           = "web"
	nameCLI           = "cli"
	nameAPI           = "api"
)

// Options are what the decisions depend on. All are required.
type Options struct {
	Approvers func() []string // of the current settings; open requests follow them, too
	State     string          // the state folder
	Services  platforms.Table
	// Access returns the roles of people, or nil while no platform needs them.
	Access func() *access.Store
	// Platform returns a running platform by its name, or nil.
	Platform func(name string) platform.Platform
	// Waking returns the chats that may have open requests, and AskChat asks one of them.
	Waking  func(ctx context.Context) ([]messages.ChatKey, error)
	AskChat func(ctx context.Context, question any) (any, error)
	Logger  *slog.Logger
}

// Deciders answers questions about who decides. It is safe for concurrent use.
type Deciders struct {
	Options

	admins *Admins
}

// New makes the answers for the approvers of the settings. The caller closes it.
func New(o Options) *Deciders {
	d := &Deciders{Options: o}
	d.admins = newAdmins(o.Logger.With("component", "approvals"), d.administered)
	return d
}

// Admins is the cache of the administrators of groups, or nil if they may not decide.
func (d *Deciders) Admins() *Admins {
	if !slices.Contains(d.Approvers(), approverAdmins) {
		return nil
	}
	return d.admins
}

// administered is a platform that knows administrators, or nil.
func (d *Deciders) administered(name string) platform.Administered {
	knows, _ := d.Platform(name).(platform.Administered)
	return knows
}

// May reports whether somebody is among the approvers of this host.
func (d *Deciders) May(c approval.Claim) bool {
	c.Admin = c.Admin || c.Group && d.Admins().has(c.ChatKey, c.Person) && groupOf(c.ChatKey).platform == c.Platform
	return mayDecide(d.Approvers(), d.Role, c)
}

// Role is a person's role with a bot.
func (d *Deciders) Role(bot, person string) string {
	people := d.Access()
	if people == nil {
		return platform.RoleStranger
	}
	return people.Role(bot, person)
}

// mayDecide reports whether somebody is among the approvers. Users of this machine's terminal or web chat count as
// the owner; on other platforms the owner is the person who was paired as such. People whom the owner has blocked decide
// nothing. Names of people do not count, because anyone can choose them.
func mayDecide(approvers []string, role func(bot, person string) string, c approval.Claim) bool {
	if c.Platform == query.Platform {
		return true // the user of the process, who could change the settings as well
	}
	kind, _, _ := strings.Cut(c.Platform, "@")
	is := role(c.Platform, c.Person)
	return c.Person != "" && is != platform.RoleBlocked && slices.ContainsFunc(approvers, func(who string) bool {
		switch who {
		case approverOwner:
			return kind == nameWeb || kind == nameCLI || is == platform.RoleOwner
		case approverInitiator:
			return c.Person == c.Asker
		case approverAdmins:
			return c.Group && c.Admin
		}
		return who == kind+"-"+c.Person || who == c.Person && kind != nameAPI // a program names its people as it likes
	})
}
