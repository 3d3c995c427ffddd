package host

import (
	"context"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/config"
)

// reachGate keeps what a folder may reach outside of it.
type reachGate struct {
	mu     sync.Mutex // settings and servers of tools are read anew independently
	next   *config.Loaded
	agreed []config.Reach // while this host runs
}

// mayReach refuses a start if the settings or the servers of tools reach outside of the
// folder in what is not agreed to. It runs before everything that uses a key, reads
// anything else of the folder or starts a program.
func (h *Host) mayReach(context.Context) error {
	if err := h.trust.settings(h, h.opts.Settings); err != nil {
		return &Failure{Kind: KindConfig, What: "this folder is not trusted", Why: err, Help: "sma trust " + h.opts.Dir}
	}
	return nil
}

// settings checks settings that were read, and keeps them for later checks of servers.
func (g *reachGate) settings(h *Host, l *config.Loaded) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	servers, err := l.MCP(MCPFile(h.opts.State), false)
	if err != nil {
		servers = nil // it cannot be used, so no server of it starts
	}
	reaches := l.Reaches(servers)
	if err := h.opts.mayReach(reaches); err != nil {
		return err
	}
	g.next = l
	g.note(reaches)
	return nil
}

// note keeps what was agreed to. Files are read while they are written, too: what is
// not there for a moment is still agreed to.
func (g *reachGate) note(reaches []config.Reach) {
	for _, r := range reaches {
		if !slices.Contains(g.agreed, r) {
			g.agreed = append(g.agreed, r)
		}
	}
}

// servers checks servers of tools that were read, together with the newest settings
// that were agreed to. Removing servers needs no agreement.
func (g *reachGate) servers(h *Host, m *config.MCP) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	reaches := g.next.Reaches(m)
	if !slices.ContainsFunc(reaches, func(r config.Reach) bool { return !slices.Contains(g.agreed, r) }) {
		return nil
	}
	if err := h.opts.mayReach(reaches); err != nil {
		return err
	}
	g.note(reaches)
	return nil
}

// mayReach asks whether what reaches outside is agreed to.
func (o *Options) mayReach(reaches []config.Reach) error {
	switch {
	case len(reaches) == 0:
		return nil
	case o.Trust == nil:
		return &config.UntrustedError{Reaches: reaches}
	}
	return o.Trust(reaches)
}
