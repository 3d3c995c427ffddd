package referral

import (
	"maps"
	"time"
)

const (
	// again is how long to wait for an answer before asking again. The wait doubles each time, up to atMost.
	again  = 5 * time.Second
	atMost = 2 * time.Minute
)

// Retries says when what has not been confirmed is sent again. It is not journaled: what has to be sent follows from
// the facts. Copies share nothing that changes.
type Retries struct {
	tries map[string]try
	armed time.Time // time for which the timer is set; zero if it is not
}

type try struct {
	at   time.Time // earliest time of the next try
	wait time.Duration
}

// Empty reports whether nothing is scheduled.
func (r *Retries) Empty() bool { return len(r.tries) == 0 }

// Due reports whether something should be sent now. If so, it schedules the next try.
func (r *Retries) Due(what string, now time.Time) bool {
	t, known := r.tries[what]
	if known && now.Before(t.at) {
		return false
	}
	t.wait = min(max(2*t.wait, again), atMost)
	t.at = now.Add(t.wait)
	r.set(what, t)
	return true
}

// After schedules the first try of something.
func (r *Retries) After(what string, at time.Time) {
	if _, known := r.tries[what]; !known {
		r.set(what, try{at: at})
	}
}

func (r *Retries) set(what string, t try) {
	next := make(map[string]try, len(r.tries)+1)
	maps.Copy(next, r.tries)
	next[what] = t
	r.tries = next
}

// Keep forgets everything but what is still wanted.
func (r *Retries) Keep(wanted map[string]bool) {
	next := maps.Clone(r.tries)
	maps.DeleteFunc(next, func(what string, _ try) bool { return !wanted[what] })
	r.tries = next
}

// Timer returns the time of the earliest try, or zero if nothing is scheduled, and whether that has changed since the
// last call.
func (r *Retries) Timer() (first time.Time, changed bool) {
	for _, t := range r.tries {
		if first.IsZero() || t.at.Before(first) {
			first = t.at
		}
	}
	changed = !first.Equal(r.armed)
	r.armed = first
	return first, changed
}
