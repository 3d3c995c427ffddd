// Package netguard keeps connections to addresses chosen by strangers away from this machine and
// its networks. It checks the address to which a socket is about to connect, not names or spellings
// of addresses: changing DNS answers, redirects and odd spellings make no difference.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrRefused is wrapped by errors of connections to forbidden addresses.
var ErrRefused = errors.New("the address is not on the public internet")

// ErrPort is wrapped by errors of connections to ports that are not used for the web.
var ErrPort = errors.New("the port is not one of the web")

// Options of a [Guard]; the zero value is ready for use.
type Options struct {
	// Open are addresses that are permitted although they would otherwise be refused.
	Open []netip.AddrPort
	// Resolver resolves names; the default is the system's.
	Resolver *net.Resolver
	// Own returns the addresses of this machine with their prefixes. They are refused, too, and so are their networks of
	// IPv6. The default queries the system for each connection.
	Own func() ([]net.Addr, error)
}

// Guard decides about connections. It is safe for concurrent use.
type Guard struct{ opts Options }

// New returns a guard.
func New(o Options) *Guard {
	if o.Own == nil {
		o.Own = net.InterfaceAddrs
	}
	return &Guard{opts: o}
}

// Dialer returns a dialer for TCP that checks each address.
func (g *Guard) Dialer() *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, Resolver: g.opts.Resolver, ControlContext: g.control}
}

// control is called between the creation of a socket and its connection.
func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s is not supported", ErrRefused, network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: it cannot be read", ErrRefused)
	}
	return g.Check(to)
}

// Check refuses an address with [ErrRefused] and a port with [ErrPort].
func (g *Guard) Check(to netip.AddrPort) error {
	if slices.Contains(g.opts.Open, to) {
		return nil
	}
	if err := Public(to.Addr()); err != nil {
		return err
	}
	own, err := g.opts.Own()
	if err != nil {
		return fmt.Errorf("%w: the addresses of this machine are not known", ErrRefused)
	}
	for _, a := range own {
		// Neighbours have public addresses of IPv6, too, although a router keeps others away from them.
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && (prefix.Addr().Unmap() == to.Addr() || to.Addr().Is6() && prefix.Contains(to.Addr())) {
			return fmt.Errorf("%w: it is of this machine or its network", ErrRefused)
		}
	}
	return CheckPort(to.Port())
}

// CheckPort accepts the ports of the web, and those that can be opened without privileges.
func CheckPort(port uint16) error {
	if port == 80 || port == 443 || port >= 1024 {
		return nil
	}
	return fmt.Errorf("%w: %d; there are 80, 443 and those from 1024 on", ErrPort, port)
}

// Public refuses every address that is not one of a host on the public internet.
func Public(a netip.Addr) error {
	switch {
	case !a.IsValid():
		return fmt.Errorf("%w: the address is not valid", ErrRefused)
	case a.Zone() != "":
		return fmt.Errorf("%w: it has a zone", ErrRefused)
	case a.Is4In6():
		return fmt.Errorf("%w: IPv4 inside of IPv6", ErrRefused)
	}
	for _, n := range refused() {
		if n.prefix.Contains(a) {
			return fmt.Errorf("%w: %s", ErrRefused, n.what)
		}
	}
	if a.Is6() {
		if !netip.MustParsePrefix("2000::/3").Contains(a) {
			return fmt.Errorf("%w: it is outside of the assigned ranges", ErrRefused)
		}
		// ISATAP: 0000:5efe or 0200:5efe and an IPv4 address.
		if b := a.As16(); b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
			return fmt.Errorf("%w: IPv4 inside of IPv6", ErrRefused)
		}
	}
	return nil
}

// network is a range of addresses and its purpose.
type network struct {
	prefix netip.Prefix
	what   string
}

// refused returns the ranges of IPv4, and those of IPv6 within 2000::/3, that are not for hosts on
// the public internet. The rest of IPv6 is refused as a whole; ranges of it are listed only to
// explain why.
func refused() []network {
	var out []network
	for _, n := range []struct{ prefix, what string }{
		{"0.0.0.0/8", "this network"},
		{"10.0.0.0/8", "private"},
		{"100.64.0.0/10", "shared by a provider"},
		{"127.0.0.0/8", "this machine"},
		{"169.254.0.0/16", "link-local"},
		{"172.16.0.0/12", "private"},
		{"192.0.0.0/24", "for protocols"},
		{"192.0.2.0/24", "for documentation"},
		{"192.31.196.0/24", "for name servers"},
		{"192.52.193.0/24", "for tunnels"},
		{"192.88.99.0/24", "for tunnels"},
		{"192.168.0.0/16", "private"},
		{"192.175.48.0/24", "for name servers"},
		{"168.63.129.16/32", "of a cloud's hosts"},
		{"198.18.0.0/15", "for measurements"},
		{"198.51.100.0/24", "for documentation"},
		{"203.0.113.0/24", "for documentation"},
		{"224.0.0.0/4", "for groups"},
		{"240.0.0.0/4", "reserved"},
		{"::/128", "unspecified"},
		{"::1/128", "this machine"},
		{"::/96", "IPv4 inside of IPv6"},
		{"64:ff9b::/96", "IPv4 inside of IPv6"},
		{"64:ff9b:1::/48", "IPv4 inside of IPv6"},
		{"100::/64", "for discarding"},
		{"2001::/23", "for protocols and tunnels"},
		{"2001:db8::/32", "for documentation"},
		{"2002::/16", "IPv4 inside of IPv6"},
		{"2620:4f:8000::/48", "for name servers"},
		{"3fff::/20", "for documentation"},
		{"5f00::/16", "for routing"},
		{"fc00::/7", "private"},
		{"fe80::/10", "link-local"},
		{"fec0::/10", "private"},
		{"ff00::/8", "for groups"},
	} {
		out = append(out, network{netip.MustParsePrefix(n.prefix), n.what})
	}
	return out
}
