package botkit

import (
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

// maxHourly is the minimum number of keys kept. With more, somebody may get a notice twice within
// an hour.
const maxHourly = 10_000

// hourly permits something once an hour per key. It is safe for concurrent use.
type hourly struct {
	last *recent.Map[string, time.Time]
	now  func() time.Time
}

func newHourly(now func() time.Time) *hourly {
	return &hourly{last: recent.New[string, time.Time](maxHourly), now: now}
}

// pass reports whether the key is due, and records it if so. Setting the clock back does not block
// anything.
func (h *hourly) pass(key string) (ok bool) {
	now := h.now()
	h.last.Update(key, func(last time.Time, known bool) time.Time {
		if ok = !known || now.Sub(last) >= time.Hour || now.Before(last); ok {
			return now
		}
		return last
	})
	return ok
}
