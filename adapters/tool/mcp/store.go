package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// maxListed bounds the total size of the descriptions of one server's tools, in bytes.
const maxListed = 2 << 20

// Store is the file of pins. It is replaced atomically before a change takes effect. It is safe for concurrent use by
// one process.
type Store struct {
	path string

	mu      sync.Mutex
	records map[string]*record
}

// record is one server's part of the file.
type record struct {
	Identity string            `json:"identity"`
	Pinned   time.Time         `json:"pinned,omitzero"` // when the first list was pinned
	Tools    map[string]*entry `json:"tools"`
}

// entry is one tool of a server.
type entry struct {
	// Pin is the approved definition, or nil.
	Pin *Definition `json:"pin,omitempty"`
	// Person says that a person approved the pin; otherwise it is from the first list.
	Person bool      `json:"person,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Seen is the definition that the server listed last, unless it equals the pin.
	Seen *Definition `json:"seen,omitempty"`
	// Listed says that the last list contained the tool.
	Listed bool `json:"listed,omitempty"`
	// Fault says why the last definition cannot be used, if it cannot.
	Fault string `json:"fault,omitempty"`
}

// seen is the definition that the server listed last, or nil.
func (e *entry) seen() *Definition {
	if e.Seen != nil {
		return e.Seen
	}
	return e.Pin
}

// file is the format of the file.
type file struct {
	V       int                `json:"v"`
	Servers map[string]*record `json:"servers"`
}

// OpenStore reads the file of pins, which may be missing. An unreadable file is an error, because with an empty store
// anything that servers list next would be pinned.
func OpenStore(path string) (*Store, error) {
	s := &Store{path: path, records: map[string]*record{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the pinned tools: %w", err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil || f.V != 1 {
		return nil, fmt.Errorf("the pinned tools in %s cannot be read; remove the file to trust all servers anew: %w", path, cmp.Or(err, errVersion))
	}
	for name, r := range f.Servers {
		if r == nil {
			continue
		}
		if r.Tools == nil {
			r.Tools = map[string]*entry{}
		}
		maps.DeleteFunc(r.Tools, func(_ string, e *entry) bool { return e == nil || e.seen() == nil })
		for _, e := range r.Tools {
			e.Pin.tidy()
			e.Seen.tidy()
		}
		s.records[name] = r
	}
	return s, nil
}

var errVersion = errors.New("it was written by another version")

// tidy makes the JSON of a definition canonical, in case a person has edited it.
func (d *Definition) tidy() {
	if d == nil {
		return
	}
	for _, raw := range []*json.RawMessage{&d.InputSchema, &d.Annotations} {
		if text, err := canonical(*raw); err == nil {
			*raw = text
		}
	}
}

// listed is one tool in a server's answer.
type listed struct {
	def   Definition
	fault error
}

// note stores a server's list. The first list of a new or changed server is pinned. It reports whether anything has
// changed.
func (s *Store) note(server *Server, tools []listed, now time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.records[server.Name]
	next := &record{Identity: server.identity(), Tools: map[string]*entry{}}
	if old != nil && old.Identity == next.Identity {
		next.Pinned = old.Pinned
		for name, e := range old.Tools {
			if e.Pin != nil {
				kept := *e
				kept.Listed = false
				next.Tools[name] = &kept
			}
		}
	}
	first := next.Pinned.IsZero()
	for name, l := range bounded(tools) {
		e := next.Tools[name]
		if e == nil {
			e = &entry{}
			next.Tools[name] = e
		}
		e.take(l, first, now)
	}
	if first && len(next.Tools) > 0 {
		next.Pinned = now.UTC()
	}
	if old != nil && equalJSON(old, next) {
		return false, nil
	}
	return true, s.put(server.Name, next)
}

// take stores what a server lists under the entry's name.
func (e *entry) take(l listed, first bool, now time.Time) {
	e.Listed, e.Fault, e.Seen = true, "", nil
	if l.fault != nil {
		e.Fault = clean(l.fault.Error(), maxLine)
	}
	def := l.def
	if e.Pin == nil && first && l.fault == nil && !odd(def.Name) {
		e.Pin, e.At = &def, now.UTC()
		return
	}
	if e.Pin == nil || e.Fault != "" || e.Pin.hash() != def.hash() {
		if e.Fault != "" {
			def.InputSchema, def.Annotations, def.Description = nil, nil, "" // may be of any size
		}
		e.Seen = &def
	}
}

// bounded returns the tools by name. Duplicate names, and tools beyond the size limit, are included with a fault.
func bounded(tools []listed) map[string]listed {
	out := map[string]listed{}
	total := 0
	for _, l := range tools {
		if len(out) == maxTools {
			break
		}
		name := clean(strings.Join(strings.Fields(l.def.Name), "_"), maxToolName)
		if _, twice := out[name]; twice {
			l.fault = errors.New("the server lists it twice")
		}
		if l.fault == nil {
			total += len(l.def.Description) + len(l.def.InputSchema) + len(l.def.Annotations) + len(l.def.Title)
		}
		if total > maxListed {
			l.fault = fmt.Errorf("the server's tools take more than %d bytes", maxListed)
		}
		l.def.Name = name
		out[name] = l
	}
	return out
}

// Approve pins what a server listed last. A hash that is not empty must be that of what is approved. Errors wrap
// [ErrUnknown] if the tool does not exist.
func (s *Store) Approve(server, name, hash string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[server]
	if r == nil || r.Tools[name] == nil {
		return fmt.Errorf("%w: %s", ErrUnknown, qualified(server, name))
	}
	e := *r.Tools[name]
	switch {
	case e.Fault != "":
		return fmt.Errorf("%s cannot be approved: %s", qualified(server, name), e.Fault)
	case hash != "" && e.seen().hash() != hash:
		return fmt.Errorf("%s changed once more meanwhile; look at it again", qualified(server, name))
	}
	e.Pin, e.Person, e.At, e.Seen = e.seen(), true, time.Now().UTC(), nil
	next := *r
	next.Tools = maps.Clone(r.Tools)
	next.Tools[name] = &e
	return s.put(server, &next)
}

// put writes the file with a new record, and uses the record once the file is durable.
func (s *Store) put(server string, r *record) error {
	next := maps.Clone(s.records)
	next[server] = r
	data, err := plainjson.Append(nil, file{V: 1, Servers: next}) // schemas must keep the bytes that were hashed
	if err != nil {
		return fmt.Errorf("encode the pinned tools: %w", err) // Unreachable: schemas are valid JSON
	}
	if err := (document.Disk{}).Write(s.path, append(data, '\n')); err != nil {
		return fmt.Errorf("write the pinned tools: %w", err)
	}
	s.records = next
	return nil
}

// tools are the entries of a server in its current configuration, by name.
func (s *Store) tools(server *Server) map[string]entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[server.Name]
	if r == nil || r.Identity != server.identity() {
		return nil
	}
	out := make(map[string]entry, len(r.Tools))
	for name, e := range r.Tools {
		out[name] = *e
	}
	return out
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && slices.Equal(x, y)
}
