package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/bodies"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/tries"
)

const (
	cookieLife  = 30 * 24 * time.Hour
	loginPath   = "/login"
	livezPath   = "/livez"
	executePath = "/api/execute"
	consolePath = "/console/"
)

// Role is what those who make a request may do.
type Role string

// The roles.
const (
	RoleOwner  Role = "owner"  // everything
	RoleViewer Role = "viewer" // the console, as far as it shows no private texts
	RoleOpen   Role = "open"   // anyone on this machine, while no token is set
)

// roleKey is the key of the role in the context of a request.
type roleKey struct{}

// RoleOf returns the role that the guard gave to a request, or "" outside of one.
func RoleOf(ctx context.Context) Role {
	role, _ := ctx.Value(roleKey{}).(Role)
	return role
}

// pass is a token and the role that it gives.
type pass struct {
	role  Role
	token string
}

// guard decides who may make requests.
type guard struct {
	private  bool
	open     bool // without a token, requests from this machine are accepted
	token    func() string
	apiToken func() string
	viewer   func() string
	origins  *http.CrossOriginProtection
	peers    *tries.Peers
	metrics  *metrics
	// key signs sessions. It does not follow from a token that people have chosen, so that a cookie
	// cannot be used to guess one.
	key    [32]byte
	cookie string // its name
	now    func() time.Time
}

func newGuard(opts Options, m *metrics) *guard {
	bot := sha256.Sum256([]byte("cookie " + opts.Bot))
	g := &guard{
		private: opts.Private, open: opts.Open && isLoopback(opts.Listen) && value(opts.Token) == "", token: opts.Token, apiToken: opts.APIToken,
		viewer: opts.ViewerToken, cookie: "sma_session_" + hex.EncodeToString(bot[:8]),
		origins: http.NewCrossOriginProtection(),
		peers:   tries.New(), metrics: m, now: time.Now,
	}
	if opts.SessionSecret != "" {
		g.key = sha256.Sum256([]byte("sessions " + opts.SessionSecret))
	} else {
		_, _ = rand.Read(g.key[:])
	}
	return g
}

// check returns the role of a request, or why it is refused.
func (g *guard) check(r *http.Request) (Role, *respond.Problem) {
	if g.private || r.URL.Path == livezPath {
		return RoleOwner, nil
	}
	if isAPI(r) || r.Method != http.MethodGet && r.Method != http.MethodHead {
		if !g.sameOrigin(r) {
			return "", respond.Refused(http.StatusForbidden, "foreign_origin", "Pages of another origin may not use this address.")
		}
	}
	if r.URL.Path == executePath && value(g.apiToken) != "" {
		role, refusal := g.bearer(r, []pass{{RoleOwner, value(g.apiToken)}})
		if refusal != nil && refusal.Status == http.StatusUnauthorized {
			refusal = respond.Refused(refusal.Status, refusal.Code, "Send the token in adapters.api.token as a bearer token. That of the page does not count here.")
		}
		return role, refusal
	}
	passes := g.passes()
	switch {
	case len(passes) == 0 && g.open:
		return RoleOpen, hosts{}.check(r)
	case len(passes) == 0: // the token was removed by a reload: closed, never open
		return "", respond.Unauthorized()
	}
	if r.URL.Path == loginPath && r.Method == http.MethodPost {
		return "", nil // its handler checks the token
	}
	for _, of := range passes {
		if g.hasSession(r, of.token) {
			return of.role, nil
		}
	}
	return g.bearer(r, passes)
}

// passes are the tokens that count now. Without the owner's, none does.
func (g *guard) passes() []pass {
	owner, viewer := value(g.token), value(g.viewer)
	switch {
	case owner == "":
		return nil
	case viewer == "":
		return []pass{{RoleOwner, owner}}
	}
	return []pass{{RoleOwner, owner}, {RoleViewer, viewer}}
}

// isAPI reports whether a request is for data, not for a page or its files.
func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, consolePath+"api/")
}

// sameOrigin applies to reads the check that net/http applies only to writes.
func (g *guard) sameOrigin(r *http.Request) bool {
	asPost := *r
	asPost.Method = http.MethodPost
	return g.origins.Check(&asPost) == nil
}

// bearer checks the token in the Authorization header.
func (g *guard) bearer(r *http.Request, passes []pass) (Role, *respond.Problem) {
	kind, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") || got == "" {
		return "", respond.Unauthorized()
	}
	of, refusal := g.try(r, strings.TrimSpace(got), passes)
	return of.role, refusal
}

// try finds the pass with a token, and counts the peer's wrong tokens. It compares all of them, so
// that the duration does not tell which one is right.
func (g *guard) try(r *http.Request, got string, passes []pass) (found pass, refusal *respond.Problem) {
	peer, now := bodies.Peer(r.RemoteAddr), g.now()
	if wait := g.peers.Blocked(peer, now); wait > 0 {
		g.metrics.auth.WithLabelValues("limited").Inc()
		p := respond.Refused(http.StatusTooManyRequests, "too_many_tries", "Too many wrong tokens. Try again in a minute.")
		p.RetryAfter = wait
		return pass{}, p
	}
	for _, of := range slices.Backward(passes) { // if two tokens are equal, the owner's counts
		if httpcall.SameSecret(got, of.token) {
			found = of
		}
	}
	if found.role == "" {
		g.peers.Wrong(peer, now)
		g.metrics.auth.WithLabelValues("wrong").Inc()
		return pass{}, respond.Unauthorized()
	}
	return found, nil
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
	for _, c := range r.CookiesNamed(g.cookie) {
		end, sig, _ := strings.Cut(c.Value, ".")
		at, err := strconv.ParseInt(end, 36, 64)
		if err == nil && g.now().Unix() < at && hmac.Equal([]byte(sig), []byte(g.sign(end, token))) {
			return true
		}
	}
	return false
}
