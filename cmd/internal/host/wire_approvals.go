package host

import (
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
)

// nameControl is the platform name of decisions made over the control socket.
const nameControl = query.Platform

// The names of approvers that stand for groups of people.
const (
	approverOwner     = "owner"
	approverInitiator = "initiator"
	approverAdmins    = "platformAdmins"
)

// wireApprovals sets who decides about requests, and where grants are stored.
func (h *Host) wireApprovals(chats *chat.Options) {
	approvers := h.opts.Settings.Settings.Permissions.Exec.Approvers
	h.wireAdmins(approvers)
	chats.MayDecide = h.mayDecide
	chats.AdminsUnknown = h.admins.unknown
	chats.Deciders, chats.TaskPlace = h.deciders, h.taskPlace
	chats.Router, chats.Gather = h.router, h.gatherRequests
	chats.Grants = query.Grants(h.opts.State)
	chats.Uptime = uptime
}

// mayDecide reports whether somebody is among the approvers of this host.
func (h *Host) mayDecide(c approval.Claim) bool {
	c.Admin = c.Admin || c.Group && h.admins.has(c.ChatKey, c.Person) && groupOf(c.ChatKey).platform == c.Platform
	return mayDecide(h.opts.Settings.Settings.Permissions.Exec.Approvers, h.role, c)
}

// role is a person's role with a bot.
func (h *Host) role(bot, person string) string {
	if h.access == nil {
		return platform.RoleStranger
	}
	return h.access.Role(bot, person)
}

// mayDecide reports whether somebody is among the approvers. Users of this machine's terminal or web chat count as
// the owner; on other platforms the owner is the person who was paired as such. Names of people do not count, because
// anyone can choose them.
func mayDecide(approvers []string, role func(bot, person string) string, c approval.Claim) bool {
	if c.Platform == nameControl {
		return true // the user of the process, who could change the settings as well
	}
	kind, _, _ := strings.Cut(c.Platform, "@")
	return c.Person != "" && slices.ContainsFunc(approvers, func(who string) bool {
		switch who {
		case approverOwner:
			return kind == nameWeb || kind == nameCLI || role(c.Platform, c.Person) == platform.RoleOwner
		case approverInitiator:
			return c.Person == c.Asker
		case approverAdmins:
			return c.Group && c.Admin
		}
		return who == c.Person || who == kind+"-"+c.Person
	})
}

// uptime is a clock that keeps counting while the system sleeps and that nobody can set.
func uptime() (boot string, up time.Duration) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0
	}
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return "", 0
	}
	return strings.TrimSpace(string(id)), time.Duration(ts.Nano())
}
