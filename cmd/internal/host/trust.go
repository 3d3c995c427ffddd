package host

import (
	"context"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/config"
)

// reachGate records which reaches outside of the folder the operator has agreed to.
type reachGate struct {
	mu     sync.Mutex // settings and MCP servers are reloaded independently
	next   *config.Loaded
	agreed []config.Reach // while this host runs
}

// mayReach refuses a start if the settings or the MCP servers reach outside of the folder without the operator's
// agreement. It runs before anything that uses a key, reads other files of the folder or starts a program.
func (h *Host) mayReach(context.Context) error {
	if err := h.trust.settings(h, h.opts.Settings); err != nil {
		return &Failure{Kind: KindConfig, What: "this folder is not trusted", Why: err, Help: "sma trust " + h.folder()}
	}
	return nil
}

// settings checks new settings, and keeps them for later checks of servers.
func (g *reachGate) settings(h *Host, l *config.Loaded) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	servers, err := l.MCP(MCPFile(h.opts.State), false)
	if err != nil {
		servers = nil // the file cannot be used, so none of its servers start
	}
	reaches := l.Reaches(servers)
	if err := h.opts.mayReach(reaches); err != nil {
		return err
	}
	g.next = l
	g.note(reaches)
	return nil
}

// note records what was agreed to. It never removes anything, because a file may be read while it is being written
// and lack something for a moment.
func (g *reachGate) note(reaches []config.Reach) {
	for _, r := range reaches {
		if !slices.Contains(g.agreed, r) {
			g.agreed = append(g.agreed, r)
		}
	}
}

// servers checks new MCP servers together with the newest settings that were agreed to. Removing servers needs no
// agreement.
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

// mayReach checks whether the reaches are agreed to.
func (o *Options) mayReach(reaches []config.Reach) error {
	switch {
	case len(reaches) == 0:
		return nil
	case o.Trust == nil:
		return &config.UntrustedError{Reaches: reaches}
	}
	return o.Trust(reaches)
}
