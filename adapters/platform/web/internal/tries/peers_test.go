package tries

import (
	"net/http"
	"net/netip"
	"testing"
	"time"
)

func TestPeersAreBounded(t *testing.T) {
	p, now := New(), time.Now()
	addr := netip.MustParseAddr("10.0.0.0")
	for range maxPeers + 500 {
		addr = addr.Next()
		p.Wrong(netip.PrefixFrom(addr, 32), now)
	}
	if len(p.tries) > maxPeers+1 {
		t.Errorf("got %d entries, want at most %d", len(p.tries), maxPeers+1)
	}
	if p.Blocked(netip.MustParsePrefix("192.0.2.1/32"), now) == 0 {
		t.Error("a newcomer in a flood may try without limit")
	}
	p.Wrong(netip.MustParsePrefix("192.0.2.1/32"), now.Add(2*Window))
	if len(p.tries) > 2 {
		t.Errorf("got %d entries after the window, want them gone", len(p.tries))
	}
}

func TestPeerOfSharesAnIPv6Subscriber(t *testing.T) {
	of := func(addr string) netip.Prefix { return PeerOf(&http.Request{RemoteAddr: addr}) }
	if of("[2001:db8::1]:1") != of("[2001:db8::2]:9") || of("[2001:db8::1]:1") == of("[2001:db8:0:1::1]:1") {
		t.Error("IPv6 peers are not told apart by /64")
	}
	if of("[::ffff:10.0.0.1]:1") != of("10.0.0.1:2") || of("10.0.0.1:1") == of("10.0.0.2:1") {
		t.Error("IPv4 peers are not told apart by address")
	}
}
