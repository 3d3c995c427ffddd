package webfetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/shipmyagent/shipmyagent/adapters/internal/netguard"
	"github.com/shipmyagent/shipmyagent/adapters/tool/webfetch"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// names answers questions for addresses, each time as its function says.
type names struct {
	answer func(name string, nth int) []netip.Addr

	mu    sync.Mutex
	asked map[string]int // of IPv4 addresses
}

// resolver asks a name server on loopback that speaks for names.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	n.asked = map[string]int{}
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	stdtest.Must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply, err := n.reply(buf[:size]); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) reply(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) != 1 {
		return nil, fmt.Errorf("bad question: %w", err)
	}
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	n.mu.Lock()
	if q.Type == dnsmessage.TypeA {
		n.asked[name]++
	}
	nth := n.asked[name]
	n.mu.Unlock()
	m.Response, m.RecursionAvailable, m.Authoritative, m.Additionals = true, true, true, nil
	for _, a := range n.answer(name, nth) {
		head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			head.Type = dnsmessage.TypeA
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && !a.Is4():
			head.Type = dnsmessage.TypeAAAA
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}

// secret is a service of this machine that must not be reached.
func secret(t *testing.T) (port string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	s, at := server(t, func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		_, _ = io.WriteString(w, "the secret")
	})
	_ = s
	return fmt.Sprint(at.Port()), hits
}

// However an address of this machine is written, and whatever it is called, it is
// not fetched: what counts is where the socket would connect to.
func TestPI3SpellingsAndNames(t *testing.T) {
	port, hits := secret(t)
	n := &names{answer: func(string, int) []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}
	}}
	f := webfetch.New(webfetch.Options{Allow: anyHost, Guard: netguard.Options{Resolver: n.resolver(t)}})
	hosts := []string{
		"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "0", "0.0.0.0", "127.0.0.1.", "[::1]", "[::]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1%25lo]", "①②⑦.⓪.⓪.①", "127。0。0。1", "localhost", "LOCALHOST", "localhost.",
		"localhost.localdomain", "inside.example", "inside.example.", "127.0.0.1.nip.example", "ⓘnside.example",
	}
	for _, host := range hosts {
		if got, err := fetch(t, f, map[string]any{"url": "http://" + host + ":" + port + "/"}); err == nil {
			t.Errorf("%s was fetched: %+v", host, got)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests came", hits.Load())
	}
	t.Logf("%d spellings", len(hosts))
}

// Every private address that a name can resolve to is refused before a socket connects.
func TestPI3NamesOfPrivateAddresses(t *testing.T) {
	addresses := []string{
		"0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
		"203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2001::1", "2001:db8::1", "2002:a00:1::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "ff02::1", "fec0::1", "3fff::1", "5f00::1", "100::1",
	}
	n := &names{answer: func(name string, _ int) []netip.Addr {
		var i int
		if _, err := fmt.Sscanf(name, "a%d.example", &i); err != nil {
			return nil
		}
		return []netip.Addr{netip.MustParseAddr(addresses[i])}
	}}
	f := webfetch.New(webfetch.Options{Allow: anyHost, Guard: netguard.Options{Resolver: n.resolver(t)}})
	for i, a := range addresses {
		_, err := fetch(t, f, map[string]any{"url": fmt.Sprintf("http://a%d.example/", i)})
		switch {
		case err == nil:
			t.Errorf("%s was fetched", a)
		case !errors.Is(err, webfetch.ErrRefused) && netip.MustParseAddr(a).Is4():
			t.Errorf("%s: %v, want it refused", a, err)
		case strings.Contains(err.Error(), a) && len(a) > 4:
			t.Errorf("%s: the error tells it: %v", a, err)
		}
	}
}

// A name that first resolves to a public address and then to this machine, or to both, gives no access.
func TestPI3Rebinding(t *testing.T) {
	port, hits := secret(t)
	s, at := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/once-more", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "public")
	})
	defer s.Close()
	// 127.0.0.1 with the port of the server plays the public internet, and 127.0.0.2 this machine.
	public, inside := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	n := &names{answer: func(name string, nth int) []netip.Addr {
		switch {
		case name == "both.example":
			return []netip.Addr{inside, public}
		case nth == 1:
			return []netip.Addr{public}
		default:
			return []netip.Addr{inside}
		}
	}}
	o := options(at)
	o.Guard.Resolver = n.resolver(t)
	f := webfetch.New(o)
	if got, err := fetch(t, f, map[string]any{"url": fmt.Sprintf("http://first.example:%d/", at.Port())}); err != nil || got.Text != "public" {
		t.Fatalf("the first time: %+v, %v", got, err)
	}
	for what, url := range map[string]string{
		"the second time":            fmt.Sprintf("http://first.example:%d/", at.Port()),
		"a redirect to itself":       fmt.Sprintf("http://second.example:%d/again", at.Port()),
		"the port of another server": "http://third.example:" + port + "/",
	} {
		if got, err := fetch(t, f, map[string]any{"url": url}); !errors.Is(err, webfetch.ErrRefused) {
			t.Errorf("%s: %+v, %v, want it refused", what, got, err)
		}
	}
	// Of several addresses those that are refused are passed over.
	if got, err := fetch(t, f, map[string]any{"url": fmt.Sprintf("http://both.example:%d/", at.Port())}); err == nil && got.Text != "public" {
		t.Errorf("both: %+v", got)
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests came through", hits.Load())
	}
}

// A redirect into the own network is refused even when every host is allowed.
func TestPI3Redirects(t *testing.T) {
	port, hits := secret(t)
	s, at := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	o := options(at)
	o.Allow = anyHost
	n := &names{answer: func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} }}
	o.Guard.Resolver = n.resolver(t)
	f := webfetch.New(o)
	for _, to := range []string{
		"http://127.0.0.1:" + port, "//127.0.0.1:" + port, "http://localhost:" + port, "http://[::1]:" + port, "http://2130706433:" + port, "http://inside.example:" + port,
		"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://[64:ff9b::7f00:1]:" + port, "http://10.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1:" + port,
	} {
		if got, err := fetch(t, f, map[string]any{"url": s.URL + "/?to=" + to}); err == nil {
			t.Errorf("%s: %+v, %v, want it refused", to, got, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests came through", hits.Load())
	}
}
