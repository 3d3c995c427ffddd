package mcp

import (
	"cmp"
	"slices"
	"sort"
)

// State says whether a tool is offered.
type State string

// The states of a tool. In all but StateOn the tool is off, until a person approves it or its server lists it again
// as before.
const (
	StateOn       State = "on"
	StateNew      State = "new"
	StateChanged  State = "changed"
	StateShadows  State = "shadows"
	StateUnusable State = "unusable"
	StateGone     State = "gone"
)

// ToolStatus is one tool of a server.
type ToolStatus struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Reason says in a sentence why the tool is off.
	Reason string `json:"reason,omitempty"`
	// Asks says that every call needs a person's approval.
	Asks bool `json:"asks"`
	// ReadOnlyClaim is the server's own claim, which has no effect.
	ReadOnlyClaim bool `json:"readOnlyClaim,omitempty"`
	// Approved says who pinned it: first for the first list, person, or empty.
	Approved string `json:"approved,omitempty"`
	// Hash is that of the last listed definition, which an approval would pin.
	Hash        string `json:"hash,omitempty"`
	Description string `json:"description,omitempty"`
}

// viewed is a tool with its status.
type viewed struct {
	server *Server
	def    Definition // the offered definition, or the one to be approved
	status ToolStatus
}

// view decides for all tools of all servers whether they are offered. Of several names that look alike, only the
// first is offered, in this order: the host's own tools, then servers and their tools by name. A tool that a person
// approved is offered anyway.
func view(servers []*Server, store *Store, reserved []string) []viewed {
	taken := map[string]string{}
	for _, name := range reserved {
		taken[skeleton(name)] = name
	}
	var out []viewed
	servers = slices.SortedFunc(slices.Values(servers), func(a, b *Server) int { return cmp.Compare(a.Name, b.Name) })
	for _, server := range servers {
		entries := store.tools(server)
		names := make([]string, 0, len(entries))
		for name := range entries {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { // approved tools keep their names
			return cmp.Or(rank(entries[a])-rank(entries[b]), cmp.Compare(a, b))
		})
		for _, name := range names {
			v := checkDefinition(server, name, entries[name], taken)
			if v.status.State == StateOn {
				if look := skeleton(qualified(server.Name, name)); taken[look] == "" {
					taken[look] = qualified(server.Name, name)
				}
			}
			out = append(out, v)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(cmp.Compare(a.server.Name, b.server.Name), cmp.Compare(a.status.Name, b.status.Name)) < 0
	})
	return out
}

func rank(e entry) int {
	switch {
	case e.Pin != nil && e.Person:
		return 0
	case e.Pin != nil:
		return 1
	default:
		return 2
	}
}

func checkDefinition(server *Server, name string, e entry, taken map[string]string) viewed {
	v := viewed{server: server, status: ToolStatus{Name: name, State: StateOn, Asks: !server.allows(name)}}
	off := func(s State, reason string) {
		v.status.State, v.status.Reason = s, reason
	}
	if seen := e.seen(); seen != nil && e.Fault == "" {
		v.def = *seen
		v.status.Hash, v.status.Description = seen.hash(), server.mask(clean(seen.Description, maxDescription))
		v.status.ReadOnlyClaim = seen.hints().ReadOnlyHint
	}
	switch {
	case e.Pin != nil && e.Person:
		v.status.Approved = "person"
	case e.Pin != nil:
		v.status.Approved = "first"
	}
	other := taken[skeleton(qualified(server.Name, name))]
	switch {
	case e.Fault != "":
		off(StateUnusable, e.Fault)
	case !e.Listed:
		off(StateGone, "the server does not list it any more")
	case e.Pin == nil && odd(name):
		off(StateNew, "its name holds characters that can pass for others")
	case e.Pin == nil:
		off(StateNew, "the server did not list it when it was configured")
	case e.Seen != nil:
		off(StateChanged, "its description, schema or annotations are not those that were approved")
	case other != "" && !e.Person:
		off(StateShadows, "its name looks like that of "+other)
	}
	return v
}
