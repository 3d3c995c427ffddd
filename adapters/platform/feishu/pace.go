package feishu

import (
	"sync"
	"time"
)

const (
	// The service takes 50 changes of cards a second and 1000 a minute of an app, and
	// ten a second of a card. Drafts stay below, so that the ends of texts have room.
	cardRate   = 10
	paceRate   = 15 // a second
	paceBurst  = 30
	paceMargin = 10 // of the burst, for ends

	// draftPause is how long no text under way is shown after the service refused one,
	// and draftsOff how long when the app may not at all.
	draftPause = 10 * time.Second
	draftsOff  = time.Hour
)

// pace keeps the changes of all cards of an app below what the service takes. Drafts
// that have no room are left out; ends always have it. It is safe for concurrent use.
type pace struct {
	mu    sync.Mutex
	used  float64 // of the burst
	at    time.Time
	until time.Time // no drafts before
}

// draft reports whether there is room for an unfinished text, and takes it.
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

// final notes the end of a text, which is two changes.
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

// rest lets drafts be until then, and reports whether that is news.
func (p *pace) rest(until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := until.Sub(p.until) > time.Second
	if until.After(p.until) {
		p.until = until
	}
	return news
}
