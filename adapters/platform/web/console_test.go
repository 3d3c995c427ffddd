package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/tries"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const viewerToken = "canary-viewer-51c0"

// roleConsole says which role the guard gave to a request.
func roleConsole(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "role "+string(RoleOf(r.Context())))
}

func withConsole(o *Options) {
	withToken(o)
	o.Console, o.ViewerToken = http.HandlerFunc(roleConsole), func() string { return viewerToken }
}

// submitToken submits the form of the login page at an address.
func (s *server) submitToken(t *testing.T, path, token string) *reply {
	t.Helper()
	return s.do(t, "POST", path, url.Values{"token": {token}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// A viewer uses the console and nothing else, with a bearer token and with a session.
func TestViewersUseTheConsoleOnly(t *testing.T) {
	s := newServer(t, withConsole)
	cookie := s.p.guard.cookie + "=" + s.p.guard.session(viewerToken)
	for line, pattern := range requests(s.p) {
		t.Run(pattern, func(t *testing.T) {
			method, path, _ := strings.Cut(line, " ")
			for _, auth := range [][]string{{"Authorization", "Bearer " + viewerToken}, {"Cookie", cookie}} {
				res := s.do(t, method, path, "", auth...)
				want := http.StatusForbidden
				switch {
				case path == "/":
					want = http.StatusSeeOther
				case pattern == "POST "+loginPath: // an empty form
					want = http.StatusUnauthorized
				case pattern == "POST /logout":
					want = http.StatusSeeOther
				case forViewers(pattern):
					want = http.StatusOK
				}
				if res.StatusCode != want {
					t.Errorf("%s with %s: got %d, want %d", line, auth[0], res.StatusCode, want)
				}
			}
		})
	}
	for _, path := range []string{"/console/../api/chats", "/console/%2e%2e/api/chats", "/console%2f..%2fapi/chats", "/%63onsole/../", "//console/..//api/chats", "/api/chats?x=/console/"} {
		if res := s.do(t, "GET", path, "", "Cookie", cookie); res.StatusCode == http.StatusOK && !strings.HasPrefix(readAll(t, res), "role ") {
			t.Errorf("%s is served to a viewer", path)
		}
	}
}

func TestConsoleKnowsTheRole(t *testing.T) {
	closed, open := newServer(t, withConsole), newServer(t, func(o *Options) { withConsole(o); o.Token = nil })
	twice := newServer(t, func(o *Options) { withConsole(o); o.ViewerToken = o.Token })
	none := newServer(t, func(o *Options) { withConsole(o); o.Console = nil })
	private := newServer(t, func(o *Options) { withConsole(o); o.Private = true })
	for _, tt := range []struct {
		name   string
		s      *server
		auth   string
		status int
		body   string
	}{
		{"no token", closed, "", 401, ""},
		{"wrong token", closed, "Bearer x", 401, ""},
		{"both tokens", closed, "Bearer " + testToken + viewerToken, 401, ""},
		{"owner", closed, "Bearer " + testToken, 200, "role owner"},
		{"viewer", closed, "Bearer " + viewerToken, 200, "role viewer"},
		{"open", open, "", 200, "role open"},
		{"open, with the viewer's token", open, "Bearer " + viewerToken, 200, "role open"},
		{"one token for both", twice, "Bearer " + testToken, 200, "role owner"},
		{"no console", none, "Bearer " + testToken, 404, ""},
		{"control socket", private, "", 404, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := tt.s.do(t, "GET", "/console/", "", "Authorization", tt.auth)
			if body := readAll(t, res); res.StatusCode != tt.status || tt.body != "" && body != tt.body {
				t.Errorf("got %d %q, want %d %q", res.StatusCode, body, tt.status, tt.body)
			}
		})
	}
}

func TestConsoleRefusesForeignPages(t *testing.T) {
	s := newServer(t, withConsole)
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/console/", 200},
		{"GET", "/console/api/chats", 403},
		{"POST", "/console/api/approvals", 403},
		{"POST", "/console/", 403},
	} {
		for _, token := range []string{testToken, viewerToken} {
			res := s.do(t, tt.method, tt.path, "", "Authorization", "Bearer "+token, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
			if res.StatusCode != tt.want {
				t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, res.StatusCode, tt.want)
			}
		}
	}
}

// A login from the console leads back to it, and a viewer's always does.
func TestLoginLeadsToTheConsole(t *testing.T) {
	s := newServer(t, withConsole)
	for _, tt := range []struct{ path, token, want string }{
		{"/login", testToken, "/"},
		{"/login?to=console", testToken, "/console/"},
		{"/login?to=https://evil.example", testToken, "/"},
		{"/login", viewerToken, "/console/"},
	} {
		res := s.submitToken(t, tt.path, tt.token)
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != tt.want || len(res.Cookies) != 1 {
			t.Errorf("%s: got %d to %q with %d cookies, want %q", tt.path, res.StatusCode, got, len(res.Cookies), tt.want)
		}
	}
	for path, want := range map[string]string{"/console/": `action="../login?to=console"`, "/console": `action="login?to=console"`, "/": `action="login"`, "/login?to=console": `action="login?to=console"`} {
		if body := readAll(t, s.do(t, "GET", path, "", "Accept", "text/html")); !strings.Contains(body, want) {
			t.Errorf("the form at %s has not %s", path, want)
		}
	}
	wantStatus(t, s.do(t, "GET", "/console/api/chats", "", "Accept", "text/html"), 401, "token_required")
}

// Wrong tokens are counted alike, whoever's token they were meant for.
func TestWrongViewerTokensAreCounted(t *testing.T) {
	s := newServer(t, withConsole)
	for range tries.Limit {
		if got := s.submitToken(t, loginPath, viewerToken+"x").StatusCode; got != 401 {
			t.Fatalf("a wrong token: got %d, want 401", got)
		}
	}
	for _, token := range []string{testToken, viewerToken} {
		if got := s.submitToken(t, loginPath, token).StatusCode; got != 429 {
			t.Errorf("a right token after too many wrong ones: got %d, want 429", got)
		}
	}
}

// Tokens that are removed or changed end the sessions that they began.
func TestTokensTakenAwayCloseTheConsole(t *testing.T) {
	owner, viewer := testToken, viewerToken
	s := newServer(t, func(o *Options) {
		withConsole(o)
		o.Token, o.ViewerToken = func() string { return owner }, func() string { return viewer }
	})
	owners, viewers := s.p.guard.cookie+"="+s.p.guard.session(owner), s.p.guard.cookie+"="+s.p.guard.session(viewer)
	want := func(when string, forOwner, forViewer int) {
		t.Helper()
		for cookie, want := range map[string]int{owners: forOwner, viewers: forViewer} {
			if got := s.do(t, "GET", "/console/", "", "Cookie", cookie).StatusCode; got != want {
				t.Errorf("%s: got %d, want %d", when, got, want)
			}
		}
	}
	want("before", 200, 200)
	viewer = "another"
	want("another token for viewers", 200, 401)
	viewer = ""
	want("no token for viewers", 200, 401)
	owner, viewer = "", viewerToken
	want("no token for the owner", 401, 401)
}

// What follows a chat in the console ends when the platform closes.
func TestCloseEndsTheConsole(t *testing.T) {
	entered := make(chan bool)
	p, err := New(Options{Live: platformtest.NewLive(), Open: true, Console: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- true
		<-r.Context().Done()
	})})
	stdtest.Must(t, err)
	go func() {
		<-entered
		p.Close()
	}()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/", http.NoBody)
	r.Host = "localhost"
	p.Handler().ServeHTTP(httptest.NewRecorder(), r)
}
