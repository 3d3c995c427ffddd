// Package pace limits how often an app changes its cards.
//
// It promises that drafts never use the capacity that the ends of texts need, and that no draft is
// shown while the service refuses them.
package pace

import (
	"sync"
	"time"
)

const (
	// CardRate is the maximum rate of drafts of one card, per second. For each app the service
	// permits 50 changes of cards per second and 1000 per minute, and for each card ten per second.
	// Drafts stay below that, so that the ends of texts have capacity.
	CardRate = 10
	rate     = 15 // per second
	burst    = 30
	margin   = 10 // part of the burst that is reserved for ends

	// DraftPause is how long no drafts are shown after the service refused one.
	DraftPause = 10 * time.Second
	// DraftsOff is how long no drafts are shown if the app may not show any.
	DraftsOff = time.Hour
)

// Pace limits the changes of all cards of an app to what the service permits. Drafts beyond the
// limit are left out; ends are always permitted. It is safe for concurrent use.
type Pace struct {
	mu    sync.Mutex
	used  float64 // of the burst
	at    time.Time
	until time.Time // no drafts until then
}

// Draft reports whether an unfinished text may be shown, and counts it.
func (p *Pace) Draft(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow(now)
	if now.Before(p.until) || p.used+1 > burst-margin {
		return false
	}
	p.used++
	return true
}

// Final counts the end of a text, which is two changes.
func (p *Pace) Final(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow(now)
	p.used += 2
}

func (p *Pace) flow(now time.Time) {
	p.used = max(0, p.used-max(0, now.Sub(p.at).Seconds())*rate)
	p.at = now
}

// Rest suspends drafts until then, and reports whether they were active.
func (p *Pace) Rest(until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := until.Sub(p.until) > time.Second
	if until.After(p.until) {
		p.until = until
	}
	return news
}
