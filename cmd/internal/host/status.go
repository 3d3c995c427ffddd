package host

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
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

// NotReady says why the host does not take messages everywhere; it is empty once it does.
// The reasons are that the host starts or drains, and each platform that is on and down.
// /readyz, sma status and its --probe all ask this, so that they agree.
func (s Status) NotReady() string {
	if s.State != StateReady {
		return "the host is " + string(s.State)
	}
	var down []string
	for _, p := range s.Platforms {
		if p.On && !p.Up {
			down = append(down, p.Name+" is down")
		}
	}
	return strings.Join(down, ", ")
}

// Summary is what people want to know when a host is ready.
type Summary struct {
	Status
	Web string // where the web chat is; empty: nowhere
	// Login is the link that logs a browser in; empty: none is needed, or the operator
	// chose the token. It belongs on a terminal and into no log.
	Login config.Secret
	// OwnerCode pairs the owner of OwnerBot, which is a platform's name; empty: the bot has
	// one, or needs none.
	OwnerCode, OwnerBot string
}

// Summary describes a host that has started. A bot without an owner gets a new
// pairing code by it.
func (h *Host) Summary(ctx context.Context) (Summary, error) {
	h.awaitNames(ctx)
	out := Summary{Status: h.Status(ctx), Web: h.webAddr, Login: h.loginLink()}
	bot, a := "", h.opts.Settings.Settings.Adapters
	switch {
	case h.ports[nameTelegram] != nil && a.Telegram.Access != config.AccessOpen:
		bot = nameTelegram
	case h.ports[nameFeishu] != nil && a.Feishu.Access != config.AccessOpen:
		bot = nameFeishu
	}
	if h.access == nil || bot == "" {
		return out, nil
	}
	code, err := h.access.OwnerCode(ctx, bot)
	out.OwnerCode, out.OwnerBot = code, bot
	return out, err
}

// namesWithin is how long a summary waits for services to say who their bots are.
const namesWithin = 2 * time.Second

// awaitNames waits until all bots are known by name, or are known not to be reachable.
func (h *Host) awaitNames(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		var list Status
		h.board.fill(&list)
		if h.nameBots(list.Platforms) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// nameBots adds what bots are called, as far as is known. It reports whether there is
// nothing left to wait for.
func (h *Host) nameBots(list []PlatformStatus) bool {
	complete := true
	for i, p := range list {
		made := h.ports[p.Name]
		if made == nil {
			continue
		}
		if named, ok := made.platform.(platform.Named); ok {
			list[i].Bot, list[i].Link = named.Bot()
			complete = complete && (list[i].Bot != "" || p.Note != starting)
		}
	}
	return complete
}
