package notices

import (
	"sync"
	"time"
)

// Hourly lets something through once an hour per key. It is safe for concurrent use.
type Hourly struct {
	mu   sync.Mutex
	last map[string]time.Time
	now  func() time.Time
}

// maxHourly is how many keys are known; with more, all are forgotten, and somebody
// may read a line twice within the hour.
const maxHourly = 10_000

// NewHourly knows no key yet.
func NewHourly(now func() time.Time) *Hourly {
	return &Hourly{last: map[string]time.Time{}, now: now}
}

// Pass tells whether the key may go through, and counts it if so. A clock that was
// set back holds nobody up.
func (h *Hourly) Pass(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if t, ok := h.last[key]; ok && now.Sub(t) < time.Hour && !now.Before(t) {
		return false
	}
	if len(h.last) >= maxHourly {
		clear(h.last)
	}
	h.last[key] = now
	return true
}
