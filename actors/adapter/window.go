package adapter

import (
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// window is an exact sliding window: at most N events in any stretch of Per.
// The zero rate allows everything.
type window struct {
	rate platform.Rate
	at   []time.Time // of the last N events, oldest first
}

// wait is how long the next event has to wait.
func (w *window) wait(now time.Time) time.Duration {
	if w.rate.N <= 0 || len(w.at) < w.rate.N {
		return 0
	}
	return max(0, w.rate.Per-now.Sub(w.at[0]))
}

// note counts an event.
func (w *window) note(now time.Time) {
	if w.rate.N <= 0 {
		return
	}
	if len(w.at) >= w.rate.N {
		w.at = w.at[1:]
	}
	w.at = append(w.at, now)
}

// idle reports whether the window holds nothing that still counts.
func (w *window) idle(now time.Time) bool {
	return len(w.at) == 0 || now.Sub(w.at[len(w.at)-1]) >= w.rate.Per
}
