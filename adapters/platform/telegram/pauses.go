package telegram

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

const (
	pausesFile = "pauses.json"
	// keptPause is the shortest wait that is worth remembering over a restart.
	keptPause = 2 * time.Second
)

// errPaused is the refusal of a send that the service would refuse.
var errPaused = errors.New("the service asked to wait, and the time is not over")

// pauses remember how long the service asked chats to wait, over restarts of the
// host too: asking too early makes the wait longer. It is safe for concurrent use.
type pauses struct {
	mu    sync.Mutex
	until map[string]time.Time
	path  string // empty: in memory
	now   func() time.Time
	log   *slog.Logger
}

func newPauses(dir string, now func() time.Time, log *slog.Logger) *pauses {
	p := &pauses{until: map[string]time.Time{}, now: now, log: log}
	if dir == "" {
		return p
	}
	p.path = filepath.Join(dir, pausesFile)
	if raw, err := os.ReadFile(p.path); err == nil && json.Unmarshal(raw, &p.until) != nil {
		p.until = map[string]time.Time{} // a hint that is lost: the service tells again
	}
	return p
}

// check refuses a send whose time has not come.
func (p *pauses) check(chat string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.until[chat]
	if !ok {
		return nil
	}
	left := until.Sub(p.now())
	if left <= 0 || left > 24*time.Hour { // or the clock was set back
		delete(p.until, chat)
		return nil
	}
	return &platform.Error{Reason: platform.SendRate, Retryable: true, Remembered: true, RetryAfter: left, Err: errPaused}
}

// note takes a wait out of the error of a send, which it returns.
func (p *pauses) note(chat string, err error) error {
	e, ok := errors.AsType[*platform.Error](err)
	if !ok || e.Reason != platform.SendRate {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.until[chat] = now.Add(e.RetryAfter)
	if p.path == "" || e.RetryAfter < keptPause {
		return err
	}
	for k, until := range p.until {
		if !until.After(now) {
			delete(p.until, k)
		}
	}
	if saveErr := p.save(); saveErr != nil {
		p.log.Warn("a wait that the service asked for is not remembered over a restart", "error", saveErr)
	}
	return err
}

func (p *pauses) save() error {
	raw, err := json.Marshal(p.until)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(p.path, raw, 0o600, renameio.IgnoreUmask())
}
