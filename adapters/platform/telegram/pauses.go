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
	// keptPause is the shortest delay that is kept across restarts.
	keptPause = 2 * time.Second
)

// errPaused means that a send was withheld because the service would refuse it.
var errPaused = errors.New("the service asked to wait, and the time is not over")

// pauses remembers how long the service asked chats to wait, also across restarts of the host:
// retrying too early extends the delay. It is safe for concurrent use.
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

// check refuses a send before its delay has passed.
func (p *pauses) check(chat string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.until[chat]
	if !ok {
		return nil
	}
	left := until.Sub(p.now())
	if left <= 0 || left > 24*time.Hour { // the upper bound covers a clock that was set back
		delete(p.until, chat)
		return nil
	}
	return &platform.Error{Reason: platform.SendRate, Retryable: true, Remembered: true, RetryAfter: left, Err: errPaused}
}

// note records the delay that the error of a send requests, and returns that error.
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
		p.log.Warn("a wait that the service asked for could not be stored and ends with the process", "error", saveErr)
	}
	return err
}
