package host

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool/mcp"
	speechtools "github.com/shipmyagent/shipmyagent/adapters/tool/speech"
	"github.com/shipmyagent/shipmyagent/cmd/internal/chatfiles"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/config"
)

// MCPFile is the file with a project's MCP servers.
func MCPFile(state string) string { return filepath.Join(state, "config", "mcp.json") }

// MCPStore opens the record of approved tools. Only one process may change it.
func MCPStore(state string) (*mcp.Store, error) {
	return mcp.OpenStore(filepath.Join(state, "mcp", "tools.json"))
}

// MCPLogs is the folder for the logs of MCP servers.
func MCPLogs(state string) string { return filepath.Join(state, "logs") }

// MCPServers converts the servers of the settings.
func MCPServers(loaded *config.MCP) []mcp.Server {
	out := make([]mcp.Server, 0, len(loaded.Servers))
	for _, s := range loaded.Servers {
		server := mcp.Server{
			Name: s.Name, Off: s.Off, Command: s.Command, Args: s.Args, Dir: s.Dir, Read: s.Read, Write: s.Write, Network: s.Network,
			URL: s.URL.Reveal(), Allow: s.Allow, Timeout: time.Duration(s.TimeoutS) * time.Second, Shown: s.Shown, Fetch: s.Fetch,
		}
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			server.Env = append(server.Env, name+"="+s.Env[name].Reveal())
		}
		if len(s.Headers) > 0 {
			server.Headers = http.Header{}
		}
		for name, value := range s.Headers {
			server.Headers.Set(name, value.Reveal())
		}
		for _, secret := range s.Hidden {
			server.Hidden = append(server.Hidden, secret.Reveal())
		}
		out = append(out, server)
	}
	return out
}

// MCPOptions are the options of a project's MCP manager.
func MCPOptions(o Options, store *mcp.Store, box sandbox.Sandbox) mcp.Options {
	return mcp.Options{
		Project: o.Dir, State: filepath.Join(o.State, "mcp"), Files: chatfiles.In(o.State).ChatFiles, Logs: MCPLogs(o.State),
		Store: store, Sandbox: box, Path: os.Getenv("PATH"), Version: o.Version, Logger: o.Logger.With("component", "mcp"),
		Hidden:   []string{o.State, filepath.Join(o.Dir, config.FileName), filepath.Join(o.Dir, ".env")},
		ReadOnly: steersAgent(o), Exclude: excluded(o),
	}
}

// MCPAlone are the options of a manager that tests a server without a running host.
func MCPAlone(o Options, store *mcp.Store) mcp.Options {
	return MCPOptions(o, store, sandboxes.New(o.Settings.Settings.Permissions.Exec.Sandbox))
}

// servers are the MCP servers of a host.
type servers struct {
	manager *mcp.Manager
	load    func() (*config.MCP, error)
}

// startMCP keeps the MCP servers running and their tools among those of the host. It does not wait
// for a server.
func (h *Host) startMCP(tools *toolbox, box sandbox.Sandbox) {
	store, err := MCPStore(h.opts.State)
	if err != nil {
		h.log.Warn("no MCP servers are used", "error", err)
		return
	}
	o := MCPOptions(h.opts, store, box)
	o.Shelf = h.shelf
	o.Metrics, o.Reserved = mcp.NewMetrics(h.registry), append(tools.Names(), speechtools.SpeakName, speechtools.TranscribeName)
	s := &servers{}
	o.Changed = func() {
		if err := tools.offer(func(b *toolbox) { b.served = s.manager.Tools() }); err != nil {
			h.log.Error("the tools of MCP servers cannot be offered", "error", err)
		}
	}
	s.manager = mcp.New(o)
	s.load = func() (*config.MCP, error) { return h.opts.Settings.MCP(MCPFile(h.opts.State), false) }
	h.servers = s
	h.cleanups.add("MCP servers", s.manager.Stop)
	h.applyMCP(context.Background())
	folders := []string{filepath.Dir(MCPFile(h.opts.State)), h.opts.State}
	look := func() { h.applyMCP(context.Background()) }
	h.background("MCP server settings", func(ctx context.Context) { watch(ctx, folders, h.log, look) })
}

// applyMCP reads the file of MCP servers and applies it to those that run. An unreadable file changes nothing.
func (h *Host) applyMCP(ctx context.Context) {
	s := h.servers
	loaded, err := s.load()
	if err != nil {
		if h.reloads.News("servers", err) {
			h.log.Warn("the MCP servers cannot be read; the previous ones stay in effect", "error", err)
		}
		return
	}
	if h.reloads.News("findings", loaded.Findings) {
		for _, f := range loaded.Findings {
			h.log.Warn("the settings of MCP servers need attention", "finding", f.String())
		}
	}
	if err := h.trust.servers(h, loaded); err != nil {
		if h.reloads.News("servers", "untrusted", err) {
			h.log.Warn("the changed MCP servers are not trusted; the previous ones stay in effect", "error", err, "help", "sma trust, then sma mcp test with one of them")
		}
		return
	}
	h.reloads.News("servers")
	if err := s.manager.Apply(ctx, MCPServers(loaded)); err != nil {
		h.log.Warn("an MCP server did not end cleanly", "error", err)
	}
}

// MCPOrder is an order from people about MCP servers.
type MCPOrder struct {
	Server string `json:"server"`
	// Tool and Hash name what is approved, as it was shown. Without a Tool, the server is tested.
	Tool string `json:"tool,omitempty"`
	Hash string `json:"hash,omitempty"`
}

var errNoServers = errors.New("the pinned tools cannot be read; see the log of the host")

// listMCP serves the servers with their tools.
func (c *socket) listMCP(w http.ResponseWriter, _ *http.Request) {
	if c.host.servers == nil {
		control.Refuse(w, http.StatusServiceUnavailable, errNoServers)
		return
	}
	control.JSON(w, http.StatusOK, c.host.servers.manager.Status())
}

// orderMCP tests a server or approves one of its tools, and then serves the server's status.
func (c *socket) orderMCP(w http.ResponseWriter, r *http.Request) {
	var o MCPOrder
	switch err := control.ReadOrder(w, r, &o); {
	case err != nil:
		control.Refuse(w, http.StatusBadRequest, err)
		return
	case c.host.servers == nil:
		control.Refuse(w, http.StatusServiceUnavailable, errNoServers)
		return
	}
	m := c.host.servers.manager
	var err error
	if o.Tool == "" {
		c.host.applyMCP(context.WithoutCancel(r.Context())) // it may be trusted since the file changed
		_, err = m.Test(r.Context(), o.Server)
	} else {
		err = m.Approve(o.Server, o.Tool, o.Hash)
	}
	switch {
	case errors.Is(err, mcp.ErrUnknown):
		control.Refuse(w, http.StatusNotFound, err)
		return
	case err != nil:
		control.Refuse(w, http.StatusConflict, err)
		return
	}
	for _, s := range m.Status() {
		if s.Name == o.Server {
			control.JSON(w, http.StatusOK, s)
			return
		}
	}
}
