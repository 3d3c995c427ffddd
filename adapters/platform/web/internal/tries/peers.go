// Package tries counts wrong tokens, so that nobody guesses one: each peer may send ten of them in a minute.
package tries

import (
	"sync"
	"time"
)

// A peer may send Limit wrong tokens in a Window.
const (
	Limit  = 10
	Window = time.Minute
)

// maxPeers bounds the memory.
const maxPeers = 4096

// Peers counts the wrong tokens of each peer in windows of a minute. It is safe for concurrent use.
type Peers struct {
	mu    sync.Mutex
	tries map[string]tries
}

type tries struct {
	since time.Time
	n     int
}

// New makes a count of nothing.
func New() *Peers { return &Peers{tries: map[string]tries{}} }

// Blocked returns how long a peer has to wait before it may try again, or 0.
func (p *Peers) Blocked(peer string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tries[p.slot(peer)]
	if left := t.since.Add(Window).Sub(now); t.n >= Limit && left > 0 && !now.Before(t.since) {
		return left
	}
	return 0 // also if the clock was set back, so that nobody waits longer than the window
}

// Wrong counts a wrong token.
func (p *Peers) Wrong(peer string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tries) >= maxPeers {
		for k, t := range p.tries {
			if now.Sub(t.since) >= Window {
				delete(p.tries, k)
			}
		}
	}
	key := p.slot(peer)
	t := p.tries[key]
	if now.Sub(t.since) >= Window || now.Before(t.since) {
		t = tries{since: now}
	}
	t.n++
	p.tries[key] = t
}

// slot returns the peer's own entry, or the one that all new peers share while the table is full:
// memory stays bounded and a flood of addresses gains nothing.
func (p *Peers) slot(peer string) string {
	if _, known := p.tries[peer]; known || len(p.tries) < maxPeers {
		return peer
	}
	return ""
}
