package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Manager keeps all servers of a host running and offers their tools. It is safe for concurrent use.
type Manager struct {
	o Options

	mu      sync.Mutex // guards the following fields; not held while waiting
	clients map[string]*client
	stopped bool

	apply sync.Mutex // allows one change of the servers at a time
}

// ServerStatus is the status of one server.
type ServerStatus struct {
	Name      string       `json:"name"`
	Shown     string       `json:"shown"` // its command line or address
	Condition Condition    `json:"condition"`
	Reason    string       `json:"reason,omitempty"`
	Help      string       `json:"help,omitempty"` // advice for the operator
	Tools     []ToolStatus `json:"tools"`
}

// New makes a manager without servers.
func New(o Options) *Manager {
	o.Limits = o.Limits.withDefaults()
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Manager{o: o, clients: map[string]*client{}}
}

// Apply changes the set of servers. Unchanged ones keep running; the others are stopped or started. It waits for
// servers to stop, but not for servers to start.
func (m *Manager) Apply(ctx context.Context, servers []Server) error {
	m.apply.Lock()
	defer m.apply.Unlock()
	wanted := map[string]*Server{}
	for i := range servers {
		wanted[servers[i].Name] = &servers[i]
	}
	m.mu.Lock()
	if m.stopped {
		m.mu.Unlock()
		return errors.New("the MCP servers were stopped")
	}
	var over []*client
	next := map[string]*client{}
	for name, c := range m.clients {
		if s := wanted[name]; s != nil && s.same(c.server) {
			next[name] = c
			continue
		}
		over = append(over, c)
	}
	var fresh []*client
	for name, s := range wanted {
		if next[name] == nil {
			next[name] = newClient(m.o, s, m.o.Changed)
			fresh = append(fresh, next[name])
		}
	}
	m.clients = next
	m.mu.Unlock()
	if len(over) > 0 {
		m.o.Changed() // no chat is offered the tools of a server that is stopping
	}
	err := stopAll(ctx, over) // a changed server uses the same log and home
	for _, c := range fresh {
		c.start()
	}
	if len(over)+len(fresh) > 0 {
		m.o.Changed()
	}
	return err
}

// Stop stops all servers. Calls in progress fail with [ErrInterrupted].
func (m *Manager) Stop(ctx context.Context) error {
	m.apply.Lock()
	defer m.apply.Unlock()
	m.mu.Lock()
	m.stopped = true
	clients := slices.Collect(maps.Values(m.clients))
	m.mu.Unlock()
	return stopAll(ctx, clients)
}

func stopAll(ctx context.Context, clients []*client) error {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() { errs[i] = c.stop(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// client finds a server.
func (m *Manager) client(name string) (*client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clients[name]
	if c == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	return c, nil
}

// view is what is known about all tools.
func (m *Manager) view() []viewed {
	m.mu.Lock()
	servers := make([]*Server, 0, len(m.clients))
	for _, c := range m.clients {
		servers = append(servers, c.server)
	}
	m.mu.Unlock()
	return view(servers, m.o.Store, m.o.Reserved)
}

// Tools returns the tools that are offered now, sorted by name.
func (m *Manager) Tools() []tool.Tool {
	var out []tool.Tool
	for _, v := range m.view() {
		if v.status.State != StateOn || v.server.Off != "" {
			continue
		}
		if c, err := m.client(v.server.Name); err == nil && c.server == v.server {
			out = append(out, newTool(m, c, v.def))
		}
	}
	return out
}

// offered reports whether a tool is still offered as it was when the call was made.
func (m *Manager) offered(server *Server, name, hash string) bool {
	for _, v := range m.view() {
		if v.server == server && v.status.Name == name {
			return v.status.State == StateOn && v.def.hash() == hash
		}
	}
	return false
}

// Status returns all servers by name, with their tools.
func (m *Manager) Status() []ServerStatus {
	m.mu.Lock()
	clients := maps.Clone(m.clients)
	m.mu.Unlock()
	out := []ServerStatus{}
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		c := clients[name]
		c.mu.Lock()
		out = append(out, ServerStatus{Name: name, Shown: c.server.mask(c.server.Shown), Condition: c.condition, Reason: c.reason, Help: c.help})
		c.mu.Unlock()
	}
	return withTools(out, m.view())
}

// Look returns what is known about servers without running them: their tools as they were listed last. reserved are
// the names of the host's own tools.
func Look(servers []Server, store *Store, reserved []string) []ServerStatus {
	out := []ServerStatus{}
	pointers := make([]*Server, len(servers))
	for i := range servers {
		s := &servers[i]
		pointers[i] = s
		out = append(out, ServerStatus{Name: s.Name, Shown: s.mask(s.Shown), Condition: ConditionOff, Reason: cmp.Or(s.Off, "no host is running")})
	}
	return withTools(out, view(pointers, store, reserved))
}

// withTools adds to each server its tools.
func withTools(servers []ServerStatus, all []viewed) []ServerStatus {
	for i := range servers {
		servers[i].Tools = []ToolStatus{} // in JSON an empty list
		for _, v := range all {
			if v.server.Name == servers[i].Name {
				servers[i].Tools = append(servers[i].Tools, v.status)
			}
		}
	}
	return servers
}

// Test retries a server regardless of its limit of starts, and lists its tools again. It returns when that has
// succeeded or failed, or when ctx ends.
func (m *Manager) Test(ctx context.Context, name string) (ServerStatus, error) {
	c, err := m.client(name)
	if err != nil {
		return ServerStatus{}, err
	}
	c.mu.Lock()
	lists, tries := c.lists, c.tries
	starting := c.condition == ConditionStarting
	c.mu.Unlock()
	if c.server.Off == "" && !starting {
		c.nudge(true)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c.mu.Lock()
		changed, condition := c.changed, c.condition
		listedAnew := c.lists > lists
		failed := (c.tries > tries || starting) && (condition == ConditionDown || condition == ConditionOff)
		c.mu.Unlock()
		if listedAnew && condition == ConditionUp || failed || c.server.Off != "" {
			break
		}
		select {
		case <-changed:
		case <-tick.C: // a new list does not change the condition
		case <-ctx.Done():
			return ServerStatus{}, context.Cause(ctx)
		}
	}
	for _, s := range m.Status() {
		if s.Name == name {
			return s, nil
		}
	}
	return ServerStatus{}, fmt.Errorf("%w: %s", ErrUnknown, name)
}

// Approve pins a tool as its server listed it last. A hash that is not empty must be that of the [ToolStatus] which a
// person looked at.
func (m *Manager) Approve(server, name, hash string) error {
	if _, err := m.client(server); err != nil {
		return err
	}
	if err := m.o.Store.Approve(server, name, hash); err != nil {
		return err
	}
	m.o.Changed()
	return nil
}
