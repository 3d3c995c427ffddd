package web

import (
	"net/netip"
	"sync"
	"time"
)

const (
	wrongLimit  = 10
	wrongWindow = time.Minute
	maxPeers    = 4096
)

// peers counts the wrong tokens of each peer in windows of a minute.
type peers struct {
	mu    sync.Mutex
	tries map[netip.Prefix]tries
}

type tries struct {
	since time.Time
	n     int
}

func newPeers() *peers { return &peers{tries: map[netip.Prefix]tries{}} }

// blocked returns how long a peer has to wait before it may try again, or 0.
func (p *peers) blocked(peer netip.Prefix, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tries[p.slot(peer)]
	if left := t.since.Add(wrongWindow).Sub(now); t.n >= wrongLimit && left > 0 && !now.Before(t.since) {
		return left
	}
	return 0 // also if the clock was set back, so that nobody waits longer than the window
}

// wrong counts a wrong token.
func (p *peers) wrong(peer netip.Prefix, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tries) >= maxPeers {
		for k, t := range p.tries {
			if now.Sub(t.since) >= wrongWindow {
				delete(p.tries, k)
			}
		}
	}
	key := p.slot(peer)
	t := p.tries[key]
	if now.Sub(t.since) >= wrongWindow || now.Before(t.since) {
		t = tries{since: now}
	}
	t.n++
	p.tries[key] = t
}

// slot returns the peer's own entry, or the one that all new peers share while the table is full:
// memory stays bounded and a flood of addresses gains nothing.
func (p *peers) slot(peer netip.Prefix) netip.Prefix {
	if _, known := p.tries[peer]; known || len(p.tries) < maxPeers {
		return peer
	}
	return netip.Prefix{}
}
