// Package tries counts wrong tokens, so that nobody guesses one: each peer may send ten of them in a minute.
package tries

import (
	"net/http"
	"net/netip"
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
	tries map[netip.Prefix]tries
}

type tries struct {
	since time.Time
	n     int
}

// New makes a count of nothing.
func New() *Peers { return &Peers{tries: map[netip.Prefix]tries{}} }

// Blocked returns how long a peer has to wait before it may try again, or 0.
func (p *Peers) Blocked(peer netip.Prefix, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tries[p.slot(peer)]
	if left := t.since.Add(Window).Sub(now); t.n >= Limit && left > 0 && !now.Before(t.since) {
		return left
	}
	return 0 // also if the clock was set back, so that nobody waits longer than the window
}

// Wrong counts a wrong token.
func (p *Peers) Wrong(peer netip.Prefix, now time.Time) {
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
func (p *Peers) slot(peer netip.Prefix) netip.Prefix {
	if _, known := p.tries[peer]; known || len(p.tries) < maxPeers {
		return peer
	}
	return netip.Prefix{}
}

// PeerOf returns the address by which wrong tokens are counted: one IPv4 address, or the /64 of an
// IPv6 subscriber.
func PeerOf(r *http.Request) netip.Prefix {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := at.Addr().Unmap(), 32
	if addr.Is6() {
		bits = 64
	}
	prefix, err := addr.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{} // Unreachable: the bits fit the family.
	}
	return prefix
}
