package machine

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// mayDecide reports whether a person may decide about requests that came from asker's turn. Without a host rule these
// are the one person of a private chat, and in groups the listed approvers.
func (c *Chat) mayDecide(by messages.Asker, asker string, admin bool) bool {
	if c.MayDecide == nil {
		return !c.group() || by.ID != "" && slices.Contains(c.Approvers, c.addr.Platform+"-"+by.ID)
	}
	claim := c.claim(asker)
	claim.Person, claim.Admin = by.ID, admin
	if platform, _, _ := strings.Cut(by.Platform, "@"); platform != c.addr.Platform && !isOwn(platform) {
		return false // someone with the same id on another platform
	}
	if isOwn(by.Platform) {
		claim.Platform = by.Platform // whoever holds the host's keys may decide everywhere
	}
	return c.MayDecide(claim)
}

// isOwn reports whether only the operator's own people can use a platform.
func isOwn(platform string) bool {
	return platform == "web" || platform == "cli" || platform == "control"
}

// theirs returns the open requests that a person may decide about.
func (c *Chat) theirs(by messages.Asker, admin bool) []journal.Asked {
	return slices.DeleteFunc(c.openHere(), func(a journal.Asked) bool {
		if a.Origin != "" {
			return !c.mayAbout(by, a.Request.ID, admin)
		}
		return !c.mayDecide(by, a.Request.Asker, admin)
	})
}

// askerOf returns whose turn led to a request.
func (c *Chat) askerOf(approvalID string) string {
	for _, a := range c.state.Requests(func(r journal.Request) bool { return r.ID == approvalID }) {
		return a.Request.Asker
	}
	return c.asker().ID // of the run in progress, if it asked
}

// adminsUnknown reports whether we could not find out who the group's administrators are, so that someone refused here
// might be allowed as one.
func (c *Chat) adminsUnknown() bool {
	return c.group() && c.AdminsUnknown != nil && c.AdminsUnknown(c.key)
}

// overOpenRequests reports whether a command would remove open requests from view although its sender may not decide
// about all of them.
func (c *Chat) overOpenRequests(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !slices.Contains([]string{"new", "load", "compact"}, msg.Command) {
		return false
	}
	theirs := slices.DeleteFunc(c.theirs(askerOf(turn), msg.Admin), func(a journal.Asked) bool { return a.Origin != "" })
	return len(theirs) < len(c.state.OpenRequests())
}
