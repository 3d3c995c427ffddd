package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

const (
	cookieName  = "sma_session"
	cookieLife  = 30 * 24 * time.Hour
	loginPath   = "/login"
	livezPath   = "/livez"
	executePath = "/api/execute"
)

// guard decides who may make requests.
type guard struct {
	private  bool
	open     bool // without a token, requests from this machine are accepted
	token    func() string
	apiToken func() string
	hosts    hosts
	origins  *http.CrossOriginProtection
	peers    *peers
	metrics  *metrics
	// key signs sessions. It lives as long as the process: a cookie reveals nothing about the
	// token, so it cannot be used to guess one.
	key [32]byte
	now func() time.Time
}

func newGuard(opts Options, m *metrics) *guard {
	g := &guard{
		private: opts.Private, open: opts.Open && isLoopback(opts.Listen) && value(opts.Token) == "", token: opts.Token, apiToken: opts.APIToken,
		hosts: newHosts(opts.AllowedHosts...), origins: http.NewCrossOriginProtection(),
		peers: newPeers(), metrics: m, now: time.Now,
	}
	_, _ = rand.Read(g.key[:])
	return g
}

// check returns why a request is refused, or nil.
func (g *guard) check(r *http.Request) *respond.Problem {
	if g.private || r.URL.Path == livezPath {
		return nil
	}
	if strings.HasPrefix(r.URL.Path, "/api/") || r.Method != http.MethodGet && r.Method != http.MethodHead {
		if !g.sameOrigin(r) {
			return respond.Refused(http.StatusForbidden, "foreign_origin", "Pages of another origin may not use this address.")
		}
	}
	if r.URL.Path == executePath && value(g.apiToken) != "" {
		return g.bearer(r, value(g.apiToken))
	}
	token := value(g.token)
	switch {
	case token == "" && g.open:
		return g.hosts.check(r)
	case token == "": // the token was removed by a reload: closed, never open
		return respond.Unauthorized()
	}
	if r.URL.Path == loginPath && r.Method == http.MethodPost {
		return nil // its handler checks the token
	}
	if g.hasSession(r, token) {
		return nil
	}
	return g.bearer(r, token)
}

// sameOrigin applies to reads the check that net/http applies only to writes.
func (g *guard) sameOrigin(r *http.Request) bool {
	asPost := *r
	asPost.Method = http.MethodPost
	return g.origins.Check(&asPost) == nil
}

// bearer checks the token in the Authorization header.
func (g *guard) bearer(r *http.Request, token string) *respond.Problem {
	kind, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") || got == "" {
		return respond.Unauthorized()
	}
	return g.try(r, strings.TrimSpace(got), token)
}

// try compares a token, and counts the peer's wrong ones.
func (g *guard) try(r *http.Request, got, token string) *respond.Problem {
	peer, now := peerOf(r), g.now()
	if wait := g.peers.blocked(peer, now); wait > 0 {
		g.metrics.auth.WithLabelValues("limited").Inc()
		p := respond.Refused(http.StatusTooManyRequests, "too_many_tries", "Too many wrong tokens. Try again in a minute.")
		p.RetryAfter = wait
		return p
	}
	if sameSecret(got, token) {
		return nil
	}
	g.peers.wrong(peer, now)
	g.metrics.auth.WithLabelValues("wrong").Inc()
	return respond.Unauthorized()
}

// sameSecret compares digests, so that the duration reveals neither content nor length.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// session returns the value of a cookie: its expiry, and a signature of that and the token.
func (g *guard) session(token string) string {
	end := strconv.FormatInt(g.now().Add(cookieLife).Unix(), 36)
	return end + "." + g.sign(end, token)
}

func (g *guard) sign(end, token string) string {
	digest := sha256.Sum256([]byte(token))
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write(digest[:])
	mac.Write([]byte(end))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (g *guard) hasSession(r *http.Request, token string) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		end, sig, _ := strings.Cut(c.Value, ".")
		at, err := strconv.ParseInt(end, 36, 64)
		if err == nil && g.now().Unix() < at && hmac.Equal([]byte(sig), []byte(g.sign(end, token))) {
			return true
		}
	}
	return false
}

// peerOf returns the address by which wrong tokens are counted: one IPv4 address, or the /64 of an
// IPv6 subscriber.
func peerOf(r *http.Request) netip.Prefix {
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
