package botkit

import (
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

// maxHourly is how many keys are known at least; beyond, somebody may read a line twice within
// the hour.
const maxHourly = 10_000

// hourly lets something through once an hour per key. It is safe for concurrent use.
type hourly struct {
	last *recent.Map[string, time.Time]
	now  func() time.Time
}

func newHourly(now func() time.Time) *hourly {
	return &hourly{last: recent.New[string, time.Time](maxHourly), now: now}
}

// pass reports whether the key may go through, and counts it if so. A clock that was set back
// does not hold anything up.
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
