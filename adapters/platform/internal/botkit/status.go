package botkit

import (
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Status reports a receiver's health to the host, but only when it changes. It is safe for
// concurrent use.
type Status struct {
	Host platform.Host

	mu    sync.Mutex
	known bool
	up    bool
	note  string
}

// Set reports a state and returns whether it is new.
func (s *Status) Set(up bool, note string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known && s.up == up && s.note == note {
		return false
	}
	s.known, s.up, s.note = true, up, note
	s.Host.Status(up, note)
	return true
}

// Up reports whether the last state was healthy.
func (s *Status) Up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up
}
