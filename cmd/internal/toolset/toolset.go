// Package toolset holds the tools that a host offers, which change while it runs. A run that started with tools that
// were removed since can still name them, and is told that they are not offered any more.
package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxGone bounds how many removed tools a host still knows by name.
const maxGone = 4096

// Set is the current set of tools. The whole set is replaced when tools change. A run keeps the names that it
// started with; calls of removed tools fail with an error that says so.
type Set struct {
	mu   sync.RWMutex
	set  *tool.Set
	wire map[string]string // wire names of removed tools, by name
	name map[string]string // names of removed tools, by wire name
}

// New makes a set of the tools that a host starts with.
func New(tools ...tool.Tool) (*Set, error) {
	set, err := tool.NewSet(tools...)
	if err != nil {
		return nil, err
	}
	return &Set{set: set, wire: map[string]string{}, name: map[string]string{}}, nil
}

// Replace exchanges the set. On an error the set is unchanged.
func (s *Set) Replace(tools ...tool.Tool) error {
	next, err := tool.NewSet(tools...)
	if err != nil {
		return fmt.Errorf("change the tools: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wire) > maxGone { // calls of tools removed so long ago are unlikely
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

// Names returns the names of the offered tools, in order.
func (s *Set) Names() []string { return s.now().Names() }

// Later returns the names of the tools that can do nothing in a chat yet, in order.
func (s *Set) Later(key messages.ChatKey) []string {
	set := s.now()
	return slices.DeleteFunc(set.Names(), func(name string) bool {
		t, _ := set.Lookup(name)
		f, ok := t.(tool.FollowUp)
		return !ok || f.Useful(key)
	})
}

// Find finds a tool by its own name.
func (s *Set) Find(name string) (tool.Tool, bool) { return s.now().Lookup(name) }

// Validate checks the input of a call.
func (s *Set) Validate(name string, input json.RawMessage) error {
	s.mu.RLock()
	set, gone := s.set, s.wire[name] != ""
	s.mu.RUnlock()
	if gone {
		return fmt.Errorf("%w: %s is not offered any more", tool.ErrUnknown, name)
	}
	return set.Validate(name, input)
}

// WireName is the name that the model knows a tool by, also for a removed tool.
func (s *Set) WireName(name string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if wire, gone := s.wire[name]; gone {
		return wire
	}
	return s.set.Wire(name)
}

// Wire is the name and the schema of a tool as the model reads them.
func (s *Set) Wire(spec tool.Spec) (name string, schema json.RawMessage) {
	return s.WireName(spec.Name), s.now().Shown(spec)
}

// Name is the own name of a tool with a given wire name, also for a removed tool.
func (s *Set) Name(wire string) string {
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

func (s *Set) now() *tool.Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.set
}

// Offer are the tools that every request of a chat begins with, and their sum.
type Offer struct {
	Chat   messages.ChatKey `json:"chat"`
	Tools  []Offered        `json:"tools"`
	Tokens int              `json:"tokens"`
	Bytes  int              `json:"bytes"`
}

// Offered is a tool and the size of its JSON in a request.
type Offered struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
}

// Offer measures the named tools as a model gets them.
func (s *Set) Offer(chat messages.ChatKey, names []string, count func(text string) (int, error)) (Offer, error) {
	out := Offer{Chat: chat, Tools: []Offered{}}
	for _, name := range names {
		t, ok := s.Find(name)
		if !ok {
			continue // the tools have just changed
		}
		spec := t.Spec()
		wire, schema := s.Wire(spec)
		raw, err := encode(wire, spec.Description, schema)
		if err != nil {
			return out, fmt.Errorf("encode the tool %s: %w", name, err)
		}
		tokens, err := count(string(raw))
		if err != nil {
			return out, fmt.Errorf("count tokens: %w", err)
		}
		out.Tools = append(out.Tools, Offered{wire, tokens, len(raw)})
		out.Tokens, out.Bytes = out.Tokens+tokens, out.Bytes+len(raw)
	}
	return out, nil
}

// encode is a tool in the form that services get.
func encode(name, description string, schema json.RawMessage) ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{name, description, schema}})
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
