package adapter

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// floodChats is how many chats have to be asked to wait, within floodWithin and without a
	// successful send in between, before all chats wait: the service does not say which of its limits
	// was reached.
	floodChats  = 5
	floodWithin = 2 * time.Second
)

// limits are the limits of the whole account.
type limits struct {
	all   window
	until time.Time // no sends before
	asked map[messages.ChatKey]askedToWait
}

// askedToWait records that a chat was asked to wait.
type askedToWait struct{ at, until time.Time }

// wait is how long the account has to wait.
func (l *limits) wait(now time.Time) time.Duration { return max(l.until.Sub(now), l.all.wait(now)) }

// sent notes a successful send.
func (l *limits) sent() { clear(l.asked) }

// refused notes that the service asked a chat to wait. If all chats have to wait because of that,
// it returns how long: as long as the chat that may send first, since one of them may have a long
// wait of its own.
func (l *limits) refused(key messages.ChatKey, now time.Time, wait time.Duration) time.Duration {
	if l.asked == nil {
		l.asked = map[messages.ChatKey]askedToWait{}
	}
	l.asked[key] = askedToWait{now, now.Add(wait)}
	first := now.Add(wait)
	for k, t := range l.asked {
		switch {
		case now.Sub(t.at) > floodWithin:
			delete(l.asked, k)
		case t.until.Before(first):
			first = t.until
		}
	}
	if len(l.asked) < floodChats {
		return 0
	}
	if first.After(l.until) {
		l.until = first
	}
	clear(l.asked)
	return max(0, l.until.Sub(now))
}

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
	return max(0, w.rate.Per-now.Sub(w.at[len(w.at)-w.rate.N]))
}

// note counts an event.
func (w *window) note(now time.Time) {
	if w.rate.N <= 0 {
		return
	}
	if over := len(w.at) - w.rate.N + 1; over > 0 {
		w.at = w.at[over:]
	}
	w.at = append(w.at, now)
}

// over moves the last event to the end of its call: the service counts it at some time between
// start and end.
func (w *window) over(now time.Time) {
	if n := len(w.at); n > 0 && now.After(w.at[n-1]) {
		w.at[n-1] = now
	}
}

// back removes an event that did not happen.
func (w *window) back(at time.Time) {
	if i := slices.IndexFunc(w.at, at.Equal); i >= 0 {
		w.at = slices.Delete(w.at, i, i+1)
	}
}

// spare reports whether more than half of the window is free, which is what
// optional events may use.
func (w *window) spare(now time.Time) bool {
	if w.rate.N < 2 {
		return w.wait(now) == 0
	}
	used := 0
	for _, at := range w.at {
		if now.Sub(at) < w.rate.Per {
			used++
		}
	}
	return used < w.rate.N/2
}

// rest is how long until the window is empty.
func (w *window) rest(now time.Time) time.Duration {
	if len(w.at) == 0 {
		return 0
	}
	return max(0, w.rate.Per-now.Sub(w.at[len(w.at)-1]))
}
