package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// hosts are the values of the Host header, in addition to loopback names, that a listener without
// a token accepts. A foreign page can make its own name resolve to this machine (DNS rebinding);
// its requests then carry that name in their Host header.
type hosts struct {
	name string // in lower case; empty for none
	// numbers accepts every IP address. A page cannot pretend to be at an IP address, and a
	// container does not know by which address others reach it.
	numbers bool
}

// OnlyHosts passes on only requests whose Host header is a loopback name or the name of the
// listener, and refuses all others. If other machines can reach the listener, IP addresses are
// accepted as well.
func OnlyHosts(listen string, next http.Handler) http.Handler {
	host, _, _ := net.SplitHostPort(listen) // empty if there is none
	own := hosts{name: strings.ToLower(host), numbers: !isLoopback(listen)}
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
	if isLoopbackHost(host) || h.name != "" && host == h.name || h.numbers && isNumber(host) {
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
