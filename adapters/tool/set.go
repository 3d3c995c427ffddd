package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxName is the longest name of a tool in bytes.
	maxName = 256
	// maxWire is the longest name that providers accept.
	maxWire = 64
)

// Set is an immutable set of tools, sorted by name, so that their order does not depend on the order of their start.
// It is safe for concurrent use.
//
// The history and people see a tool's own name. On the wire a name must match ^[a-zA-Z0-9_-]{1,64}$: names of that
// form are used unchanged, others are mapped, and all wire names of a set are distinct.
type Set struct {
	members []*member
	byName  map[string]*member
	byWire  map[string]*member
}

// member is a tool of a set, with values derived from it.
type member struct {
	tool   Tool
	spec   Spec
	wire   string
	schema *Schema
	shown  json.RawMessage // the schema as the model reads it
}

// NewSet makes a set. It fails for duplicate or invalid names, and for schemas that are not of type object. The error
// names the tool.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{byName: make(map[string]*member, len(tools)), byWire: make(map[string]*member, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		if err := checkName(spec.Name); err != nil {
			return nil, err
		}
		if s.byName[spec.Name] != nil {
			return nil, fmt.Errorf("%w: two tools are named %q", ErrName, spec.Name)
		}
		schema, err := NewSchema(spec.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", spec.Name, err)
		}
		m := &member{tool: t, spec: spec, schema: schema, shown: spec.InputSchema}
		if !spec.Foreign {
			m.shown = shown(spec.InputSchema)
		}
		s.members = append(s.members, m)
		s.byName[spec.Name] = m
	}
	slices.SortFunc(s.members, func(a, b *member) int { return strings.Compare(a.spec.Name, b.spec.Name) })
	s.assignWires()
	return s, nil
}

// Names returns the tools' own names in the order of the set.
func (s *Set) Names() []string {
	out := make([]string, len(s.members))
	for i, m := range s.members {
		out[i] = m.spec.Name
	}
	return out
}

// Lookup finds a tool by its own name.
func (s *Set) Lookup(name string) (Tool, bool) {
	m := s.byName[name]
	if m == nil {
		return nil, false
	}
	return m.tool, true
}

// Wire is the name that the model knows a tool by. For a name that is not in the set, such as that of a removed tool,
// the mapped name may collide with another.
func (s *Set) Wire(name string) string {
	if m := s.byName[name]; m != nil {
		return m.wire
	}
	return wireName(name)
}

// Shown is a tool's schema as the model reads it, computed once. For a tool that is not in the set, it is the schema of
// the spec.
func (s *Set) Shown(spec Spec) json.RawMessage {
	if m := s.byName[spec.Name]; m != nil {
		return m.shown
	}
	return spec.InputSchema
}

// Name is the own name of the tool with a wire name. An unknown name is returned unchanged.
func (s *Set) Name(wire string) string {
	if m := s.byWire[wire]; m != nil {
		return m.spec.Name
	}
	return wire
}

// Validate checks the input of a call. Its errors wrap [ErrUnknown], and then list the valid names, [ErrInput] or
// [ErrSchema].
func (s *Set) Validate(name string, input json.RawMessage) error {
	m := s.byName[name]
	if m == nil {
		wires := make([]string, len(s.members))
		for i, m := range s.members {
			wires[i] = m.wire
		}
		return fmt.Errorf("%w %q; there are: %s", ErrUnknown, clip(name, maxName), strings.Join(wires, ", "))
	}
	return m.schema.Validate(input)
}

// Check compiles every schema. It is for tests and diagnosis; in a host, a schema is compiled when first used.
func (s *Set) Check() error {
	for _, m := range s.members {
		if err := m.schema.Compile(); err != nil {
			return fmt.Errorf("tool %s: %w", m.spec.Name, err)
		}
	}
	return nil
}

// assignWires assigns the wire names: first to the tools whose own names can be used, then to the others. All tools
// whose mapped names would collide get a suffix derived from their own names, so that a wire name does not depend on
// the order.
func (s *Set) assignWires() {
	shared := map[string]int{}
	for _, m := range s.members {
		if m.wire = wireName(m.spec.Name); m.wire == m.spec.Name {
			s.byWire[m.wire] = m
			continue
		}
		shared[m.wire]++
	}
	for _, m := range s.members {
		if m.wire == m.spec.Name {
			continue
		}
		for digits := 8; s.byWire[m.wire] != nil || shared[m.wire] > 1; digits += 4 {
			m.wire = suffixed(m.spec.Name, digits)
		}
		s.byWire[m.wire] = m
	}
}

// wireName maps a name to the form that providers accept.
func wireName(name string) string {
	if len(name) > maxWire {
		return suffixed(name, 8)
	}
	return plain(name)
}

// plain replaces the bytes that a wire name must not contain.
func plain(name string) string {
	out := []byte(name)
	for i, c := range out {
		if !wireByte(c) {
			out[i] = '_'
		}
	}
	if len(out) == 0 {
		return "_"
	}
	return string(out)
}

// suffixed is the mapped name, shortened and followed by digits of the name's hash.
func suffixed(name string, digits int) string {
	sum := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(sum[:])[:min(digits, maxWire-2)]
	head := plain(name)
	return head[:min(len(head), maxWire-len(tail))] + tail
}

func wireByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// checkName checks that a history can store a name and people can read it.
func checkName(name string) error {
	bad := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > maxName:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrName, len(name), maxName)
	case !utf8.ValidString(name), strings.ContainsFunc(name, bad):
		return fmt.Errorf("%w: %q holds blanks or control characters", ErrName, name)
	}
	return nil
}
