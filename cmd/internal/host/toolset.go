package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// maxGone is how many tools that are gone a host still knows by name.
const maxGone = 4096

// toolSet is the tools that a host offers now. The whole set is exchanged when tools
// come or go; a run goes on with the names that it began with, and its calls of tools
// that are gone are told so.
type toolSet struct {
	mu   sync.RWMutex
	set  *tool.Set
	wire map[string]string // wire names of tools that are gone, by name
	name map[string]string // the way back
}

// newToolSet makes a set of the tools that a host begins with.
func newToolSet(tools ...tool.Tool) (*toolSet, error) {
	set, err := tool.NewSet(tools...)
	if err != nil {
		return nil, err
	}
	return &toolSet{set: set, wire: map[string]string{}, name: map[string]string{}}, nil
}

// replace exchanges the set. Tools that cannot be in one leave it as it is.
func (s *toolSet) replace(tools ...tool.Tool) error {
	next, err := tool.NewSet(tools...)
	if err != nil {
		return fmt.Errorf("change the tools: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wire) > maxGone { // nobody calls what went so long ago
		clear(s.wire)
		clear(s.name)
	}
	for _, name := range s.set.Names() {
		s.wire[name], s.name[s.set.Wire(name)] = s.set.Wire(name), name
	}
	s.set = next
	maps.DeleteFunc(s.wire, func(name, _ string) bool {
		_, there := next.Lookup(name)
		return there
	})
	maps.DeleteFunc(s.name, func(_, name string) bool {
		_, there := next.Lookup(name)
		return there
	})
	return nil
}

// Names are the names of the tools that are offered, in their order.
func (s *toolSet) Names() []string { return s.now().Names() }

// Lookup finds a tool by its own name.
func (s *toolSet) Lookup(name string) (tool.Tool, bool) { return s.now().Lookup(name) }

// Validate checks the input of a call.
func (s *toolSet) Validate(name string, input json.RawMessage) error {
	s.mu.RLock()
	set, gone := s.set, s.wire[name] != ""
	s.mu.RUnlock()
	if gone {
		return fmt.Errorf("%w: %s is not offered any more", tool.ErrUnknown, name)
	}
	return set.Validate(name, input)
}

// Wire is the name that the model knows a tool by, also of one that is gone.
func (s *toolSet) Wire(name string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if wire, gone := s.wire[name]; gone {
		return wire
	}
	return s.set.Wire(name)
}

// Name is the own name of a tool that the model knows by another, also of one that
// is gone.
func (s *toolSet) Name(wire string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	name := s.set.Name(wire)
	if _, there := s.set.Lookup(name); there {
		return name
	}
	if gone, ok := s.name[wire]; ok {
		return gone
	}
	return name
}

func (s *toolSet) now() *tool.Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.set
}
