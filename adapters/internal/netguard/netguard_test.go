package netguard_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/internal/netguard"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// nowhere lists addresses from which no page may be fetched.
func nowhere() []string {
	return []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.254",
		"127.0.0.1", "127.0.0.53", "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.254",
		"192.0.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::a00:1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "3fff::1",
		"5f00::1", "fc00::1", "fd00:ec2::254", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "ff05::2", "4000::1", "e000::1",
		"2606:4700::5efe:a00:1", "2606:4700::200:5efe:7f00:1",
	}
}

// Every address is refused by a real dialer, on a real socket, before it connects.
func TestPI3AddressesAreRefusedAtConnect(t *testing.T) {
	dialer := netguard.New(netguard.Options{}).Dialer()
	for _, a := range nowhere() {
		addr := netip.MustParseAddr(a)
		if err := netguard.Public(addr); !errors.Is(err, netguard.ErrRefused) {
			t.Errorf("Public(%s) = %v", a, err)
		}
		conn, err := dialer.DialContext(t.Context(), "tcp", netip.AddrPortFrom(addr, 80).String())
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s was connected to", a)
			continue
		}
		if !errors.Is(err, netguard.ErrRefused) && !errors.Is(err, syscall.EAFNOSUPPORT) { // without a socket there is no connection either
			t.Errorf("dial %s: %v, want it refused", a, err)
		}
	}
	t.Logf("%d addresses", len(nowhere()))
}

// Addresses with listeners are refused, although a connection would succeed.
func TestPI3ListenersOfThisMachine(t *testing.T) {
	dialer := netguard.New(netguard.Options{}).Dialer()
	for _, at := range []string{"127.0.0.1:0", "127.0.0.2:0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
		if err != nil {
			t.Logf("%s: %v", at, err)
			continue
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		stdtest.Must(t, err)
		hosts := []string{"127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:1]"}
		own, err := net.InterfaceAddrs()
		stdtest.Must(t, err)
		for _, a := range own {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
				hosts = append(hosts, p.Addr().String())
			}
		}
		for _, host := range hosts {
			conn, err := dialer.DialContext(t.Context(), "tcp", host+":"+port)
			if err == nil {
				_ = conn.Close()
				t.Errorf("%s:%s was connected to", host, port)
			}
		}
		open := netguard.New(netguard.Options{Open: []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())}}).Dialer()
		if at == "127.0.0.1:0" { // the listener does answer
			conn, err := open.DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Errorf("an address that is open: %v", err)
			} else {
				_ = conn.Close()
			}
		}
		_ = l.Close()
	}
}

func TestOwnAddresses(t *testing.T) {
	own := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("8.8.4.4"), Mask: net.CIDRMask(24, 32)}, &net.IPNet{IP: net.ParseIP("2606:4700::1"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	g := netguard.New(netguard.Options{Own: own})
	for addr, want := range map[string]error{
		"8.8.4.4:443": netguard.ErrRefused, "8.8.4.5:443": nil, "[2606:4700::1]:443": netguard.ErrRefused, "[2606:4700::2]:443": netguard.ErrRefused, "[2606:4700:0:1::2]:443": nil,
		"8.8.8.8:80": nil, "8.8.8.8:8443": nil, "8.8.8.8:22": netguard.ErrPort, "8.8.8.8:25": netguard.ErrPort, "8.8.8.8:0": netguard.ErrPort,
		"9.9.9.9:1023": netguard.ErrPort, "9.9.9.9:1024": nil, "[fe80::1%eth0]:80": netguard.ErrRefused, "[2606:4700::3%eth0]:80": netguard.ErrRefused,
	} {
		if err := g.Check(netip.MustParseAddrPort(addr)); !errors.Is(err, want) {
			t.Errorf("Check(%s) = %v, want %v", addr, err, want)
		}
	}
	unknown := netguard.New(netguard.Options{Own: func() ([]net.Addr, error) { return nil, errors.New("no") }})
	if err := unknown.Check(netip.MustParseAddrPort("8.8.8.8:443")); !errors.Is(err, netguard.ErrRefused) {
		t.Errorf("own addresses that are not known: %v", err)
	}
}

func TestPublic(t *testing.T) {
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "2606:4700:4700::1111", "2a00:1450::1", "2001:4860:4860::8888"} {
		if err := netguard.Public(netip.MustParseAddr(a)); err != nil {
			t.Errorf("Public(%s) = %v", a, err)
		}
	}
	if err := netguard.Public(netip.MustParseAddr("::ffff:8.8.8.8")); !errors.Is(err, netguard.ErrRefused) {
		t.Errorf("IPv4 inside of IPv6: %v", err)
	}
	if err := netguard.Public(netip.Addr{}); !errors.Is(err, netguard.ErrRefused) {
		t.Errorf("no address: %v", err)
	}
}

// A refused IPv4 address is refused in every IPv6 notation, too.
func TestPI3EmbeddedAddresses(t *testing.T) {
	for _, a := range nowhere() {
		v4 := netip.MustParseAddr(a)
		if !v4.Is4() {
			continue
		}
		b := v4.As4()
		hex := fmt.Sprintf("%02x%02x:%02x%02x", b[0], b[1], b[2], b[3])
		for _, form := range []string{"::%s", "::ffff:%s", "::ffff:0:%s", "64:ff9b::%s", "64:ff9b:1::%s", "2002:%s::1", "2001:0:%s::", "fe80::5efe:%s"} {
			text := fmt.Sprintf(form, hex)
			if err := netguard.Public(netip.MustParseAddr(text)); !errors.Is(err, netguard.ErrRefused) {
				t.Errorf("Public(%s) = %v", text, err)
			}
		}
	}
}
