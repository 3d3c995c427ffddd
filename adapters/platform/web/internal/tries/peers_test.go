package tries

import (
	"strconv"
	"testing"
	"time"
)

func TestPeersAreBounded(t *testing.T) {
	p, now := New(), time.Now()
	for i := range maxPeers + 500 {
		p.Wrong(strconv.Itoa(i), now)
	}
	if len(p.tries) > maxPeers+1 {
		t.Errorf("got %d entries, want at most %d", len(p.tries), maxPeers+1)
	}
	if p.Blocked("192.0.2.1", now) == 0 {
		t.Error("a newcomer in a flood may try without limit")
	}
	p.Wrong("192.0.2.1", now.Add(2*Window))
	if len(p.tries) > 2 {
		t.Errorf("got %d entries after the window, want them gone", len(p.tries))
	}
}
