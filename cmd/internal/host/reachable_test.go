package host

import (
	"net"
	"testing"
)

func TestReachable(t *testing.T) {
	for ip, want := range map[string]string{"::": "127.0.0.1:3000", "0.0.0.0": "127.0.0.1:3000", "::1": "[::1]:3000", "192.0.2.1": "192.0.2.1:3000"} {
		if got := reachable(&net.TCPAddr{IP: net.ParseIP(ip), Port: 3000}); got != want {
			t.Errorf("%s: %s, want %s", ip, got, want)
		}
	}
}
