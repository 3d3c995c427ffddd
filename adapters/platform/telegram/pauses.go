package telegram

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

const (
	// keptPause is the shortest wait that is remembered over a restart.
	keptPause = 2 * time.Second
)

// errPaused is the refusal of a send that the service would refuse.
var errPaused = errors.New("the service asked to wait, and the time is not over")

// pauses remember how long the service asked chats to wait, over restarts of the
// host too: asking too early makes the wait longer. It is safe for concurrent use.
type pauses struct {
	mu    sync.Mutex
	until map[string]time.Time
	file  botkit.StateFile
	now   func() time.Time
	log   *slog.Logger
}

func newPauses(dir string, now func() time.Time, log *slog.Logger) *pauses {
	p := &pauses{until: map[string]time.Time{}, file: botkit.StateFile{Dir: dir, Name: "pauses.json"}, now: now, log: log}
	if p.file.Load(&p.until) != nil {
		p.until = map[string]time.Time{} // losing the hint is harmless: the service repeats it
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
	if e.RetryAfter < keptPause {
		return err
	}
	for k, until := range p.until {
		if !until.After(now) {
			delete(p.until, k)
		}
	}
	if saveErr := p.file.Save(p.until); saveErr != nil {
		p.log.Warn("a wait that the service asked for is not remembered over a restart", "error", saveErr)
	}
	return err
}
