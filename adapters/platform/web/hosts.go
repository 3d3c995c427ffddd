package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// hosts lists the values of the Host header, in addition to loopback names, that a listener without
// a token accepts. A foreign page can make its own name resolve to this machine (DNS rebinding);
// its requests then carry that name in their Host header.
type hosts struct {
	names map[string]bool // in lower case, with or without a port
	// numbers accepts every IP address. A page cannot pretend to be at an IP address, and a
	// container does not know by which address others reach it.
	numbers bool
}

func newHosts(names ...string) hosts {
	h := hosts{names: map[string]bool{}}
	for _, name := range names {
		h.names[strings.ToLower(name)] = true
	}
	return h
}

// OnlyHosts passes on only requests whose Host header is a loopback name or the name of the
// listener, and refuses all others. If other machines can reach the listener, IP addresses are
// accepted as well.
func OnlyHosts(listen string, next http.Handler) http.Handler {
	own := newHosts()
	if host, _, err := net.SplitHostPort(listen); err == nil && host != "" {
		own.names[strings.ToLower(host)] = true
	}
	own.numbers = !isLoopback(listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusal := own.check(r); refusal != nil {
			refusal.Write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// check returns why a request is refused, or nil.
func (h hosts) check(r *http.Request) *respond.Problem {
	host := strings.ToLower(hostOnly(r.Host))
	if isLoopbackHost(host) || h.names[host] || h.names[strings.ToLower(r.Host)] || h.numbers && isNumber(host) {
		return nil
	}
	return respond.Refused(http.StatusForbidden, "foreign_host", "This address is not served under that name.")
}

func isNumber(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == ""
}

func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.Unmap().IsLoopback()
}
