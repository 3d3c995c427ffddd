package host

import (
	"context"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/deciders"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// wireApprovals sets who decides about requests, and where grants are stored.
func (h *Host) wireApprovals() {
	chats := &h.chats
	h.cleanups.add("administrators", h.deciders.Close)
	chats.MayDecide, chats.AdminsUnknown = h.deciders.May, h.deciders.AdminsUnknown
	chats.Deciders, chats.TaskFacts = h.deciders.Of, h.deciders.TaskFacts
	chats.Router, chats.Gather = h.router, h.deciders.GatherRequests
	chats.Grants = query.Grants(h.opts.State)
	chats.Uptime = uptime
}

// newDeciders says who decides about requests. It looks platforms and people up when it is asked, as they are ready
// later.
func (h *Host) newDeciders() *deciders.Deciders {
	return deciders.New(deciders.Options{
		Approvers: func() []string { return h.settings().Permissions.Exec.Approvers }, State: h.opts.State, Services: h.services, Logger: h.log,
		Access: func() *access.Store { return h.access },
		Platform: func(name string) platform.Platform {
			if made := h.ports[name]; made != nil {
				return made.platform
			}
			return nil
		},
		Waking: func(ctx context.Context) ([]messages.ChatKey, error) { return h.store.Waking(ctx) }, AskChat: h.askChat,
	})
}

// uptime is a clock that keeps counting while the system sleeps and that nobody can set.
func uptime() (boot string, up time.Duration) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0
	}
	const linuxBootTime = 7 // unix.CLOCK_BOOTTIME, which other systems lack, as they lack the file above
	var ts unix.Timespec
	if unix.ClockGettime(linuxBootTime, &ts) != nil {
		return "", 0
	}
	return strings.TrimSpace(string(id)), time.Duration(ts.Nano())
}
