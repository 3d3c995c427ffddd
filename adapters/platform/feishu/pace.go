package feishu

import (
	"sync"
	"time"
)

const (
	// For each app the service permits 50 changes of cards per second and 1000 per minute, and for
	// each card ten per second. Drafts stay below that, so that the ends of texts have capacity.
	cardRate   = 10
	paceRate   = 15 // per second
	paceBurst  = 30
	paceMargin = 10 // part of the burst that is reserved for ends

	// draftPause is how long no drafts are shown after the service refused one, and draftsOff how
	// long if the app may not show any.
	draftPause = 10 * time.Second
	draftsOff  = time.Hour
)

// pace limits the changes of all cards of an app to what the service permits. Drafts beyond the
// limit are left out; ends are always permitted. It is safe for concurrent use.
type pace struct {
	mu    sync.Mutex
	used  float64 // of the burst
	at    time.Time
	until time.Time // no drafts until then
}

// draft reports whether an unfinished text may be shown, and counts it.
func (p *pace) draft(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow(now)
	if now.Before(p.until) || p.used+1 > paceBurst-paceMargin {
		return false
	}
	p.used++
	return true
}

// final counts the end of a text, which is two changes.
func (p *pace) final(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow(now)
	p.used += 2
}

func (p *pace) flow(now time.Time) {
	p.used = max(0, p.used-max(0, now.Sub(p.at).Seconds())*paceRate)
	p.at = now
}

// rest suspends drafts until then, and reports whether they were active.
func (p *pace) rest(until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := until.Sub(p.until) > time.Second
	if until.After(p.until) {
		p.until = until
	}
	return news
}
