package host

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// State is how far a host is.
type State string

// The states of a host.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateDraining State = "draining"
	// StateFailed is of a host that cannot go on; its process is about to end.
	StateFailed State = "failing"
)

// Status is a host as programs and people see it. Members are only added.
type Status struct {
	State State `json:"state"`
	// Ready is whether the host takes messages everywhere; Why says what is missing.
	Ready     bool             `json:"ready"`
	Why       string           `json:"notReady,omitempty"`
	Project   string           `json:"project"`
	Dir       string           `json:"dir"`
	Version   string           `json:"version"`
	PID       int              `json:"pid"`
	Started   time.Time        `json:"started"`
	Model     string           `json:"model"`
	Demo      bool             `json:"demo"`
	Metrics   string           `json:"metrics,omitempty"` // address; empty: none
	Platforms []PlatformStatus `json:"platforms"`
	Chats     ChatCounts       `json:"chats"`
	// Models are the main model and its fallbacks; empty: nothing is known of them.
	Models []ModelStatus `json:"models,omitempty"`
	// Restart names the settings that have changed and need a restart.
	Restart []string `json:"needsRestart,omitempty"`
}

// PlatformStatus is one platform.
type PlatformStatus struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	Up   bool   `json:"up"`
	// Note says why it is off or down, or where it is.
	Note string `json:"note,omitempty"`
	// Bot is what the platform calls the bot, Link opens a talk with it; empty: not known.
	Bot  string `json:"bot,omitempty"`
	Link string `json:"link,omitempty"`
	// Can says in words what a platform that is on can do.
	Can []string `json:"can,omitempty"`
}

// ChatCounts are the chats in memory.
type ChatCounts struct {
	Active int `json:"active"`
}

// board is what the parts of a host report. It is safe for concurrent use.
type board struct {
	mu        sync.Mutex
	state     State
	platforms []PlatformStatus
	restart   []string
}

// enter changes the state. A host that has failed stays so.
func (b *board) enter(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != StateFailed {
		b.state = s
	}
}

// platform reports one platform.
func (b *board) platform(p PlatformStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, found := slices.BinarySearchFunc(b.platforms, p.Name, func(p PlatformStatus, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		b.platforms = slices.Insert(b.platforms, i, p)
		return
	}
	if p.Can == nil && p.On {
		p.Can = b.platforms[i].Can
	}
	b.platforms[i] = p
}

func (b *board) needRestart(keys []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restart = keys
}

// fill takes what is reported into a status.
func (b *board) fill(s *Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.State, s.Platforms, s.Restart = b.state, slices.Clone(b.platforms), slices.Clone(b.restart)
}
