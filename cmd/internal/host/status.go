package host

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/config"
)

// State is the stage that a host is in.
type State string

// The states of a host.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateDraining State = "draining"
	// StateFailed means that the host cannot continue; its process is about to end.
	StateFailed State = "failing"
)

// Status is what programs and people see of a host. Members are only ever added.
type Status struct {
	State State `json:"state"`
	// Ready is whether every platform accepts messages; Why says what is missing.
	Ready     bool             `json:"ready"`
	Why       string           `json:"notReady,omitempty"`
	Alive     bool             `json:"alive"` // the actors answer; otherwise only a restart helps
	Project   string           `json:"project"`
	Dir       string           `json:"dir"`
	Version   string           `json:"version"`
	PID       int              `json:"pid"`
	Started   time.Time        `json:"started"`
	Model     string           `json:"model"`
	Demo      bool             `json:"demo"`
	Metrics   string           `json:"metrics,omitempty"`
	Platforms []PlatformStatus `json:"platforms"`
	Chats     ChatCounts       `json:"chats"`
	// Models are the main model and its fallbacks, if their health is known.
	Models []commands.ModelStatus `json:"models,omitempty"`
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
	// Bot is what the platform calls the bot, and Link opens a chat with it; both are empty while unknown.
	Bot  string `json:"bot,omitempty"`
	Link string `json:"link,omitempty"`
	// Can says in words what an enabled platform can do.
	Can []string `json:"can,omitempty"`
}

// ChatCounts counts the chats in memory.
type ChatCounts struct {
	Active int `json:"active"`
}

// board collects what the parts of a host report. It is safe for concurrent use.
type board struct {
	mu        sync.Mutex
	state     State
	platforms []PlatformStatus
	restart   []string
}

// enter changes the state. StateFailed is final.
func (b *board) enter(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != StateFailed {
		b.state = s
	}
}

// platform updates the status of one platform.
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

// fill copies the reported status to s.
func (b *board) fill(s *Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.State, s.Platforms, s.Restart = b.state, slices.Clone(b.platforms), slices.Clone(b.restart)
}

// NotReady says why the host does not accept messages on all platforms: it is starting or draining, or an enabled
// platform is down. It is empty once the host is ready. /readyz, sma status and its --probe all use it, so that they
// agree.
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
	Web string // address of the web chat, if it is on
	// Login is the link that logs a browser in, or empty if no login is needed or the operator chose the token. Print
	// it on a terminal only, never in a log.
	Login config.Secret
	// OwnerCode pairs the owner of OwnerBot, which is a platform's name. It is empty if the bot has an owner or needs
	// none.
	OwnerCode, OwnerBot string
}

// Summary describes a host that has started. It makes a new pairing code for a bot without an owner.
func (h *Host) Summary(ctx context.Context) (Summary, error) {
	h.awaitNames(ctx)
	out := Summary{Status: h.Status(ctx), Web: h.webAddr, Login: h.loginLink()}
	bot := ""
	for _, d := range h.services {
		if h.ports[d.Name] != nil && d.Settings(h.opts.Settings.Settings.Adapters).Access != config.AccessOpen {
			bot = d.Name
			break
		}
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

// awaitNames waits until the names of all bots are known, or their services turn out to be unreachable.
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

// nameBots adds the names of bots that are known. It reports whether no more names are to be expected.
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
