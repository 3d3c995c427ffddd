package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/tries"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const testToken = "canary-token-51c0"

func withToken(o *Options) { o.Token = func() string { return testToken } }

// requests returns one request for each route of the table.
func requests(p *Platform) map[string]string {
	out := map[string]string{}
	for pattern := range p.table() {
		method, path, found := strings.Cut(pattern, " ")
		if !found {
			method, path = "GET", pattern+"nothing"
		}
		path = strings.NewReplacer("{$}", "", "{file}", "app.js", "{id}", "x", "{dir}", "a", "{rest...}", "b").Replace(path)
		out[method+" "+path] = pattern
	}
	return out
}

// WE1: every route requires the token, except for liveness.
func TestWE1EveryRouteAsksForTheToken(t *testing.T) {
	s := newServer(t, func(o *Options) {
		withToken(o)
		o.APIToken = func() string { return "api-token" }
	})
	for line, pattern := range requests(s.p) {
		t.Run(pattern, func(t *testing.T) {
			method, path, _ := strings.Cut(line, " ")
			for _, auth := range []string{"", "Basic " + testToken, "Bearer ", "Bearer"} {
				res := s.do(t, method, path, "", "Authorization", auth)
				want := http.StatusUnauthorized
				switch {
				case path == livezPath:
					want = http.StatusOK
				case method == "POST" && path == loginPath && auth != "":
					continue // has its own test: an attempt without a token in the form
				}
				if res.StatusCode != want {
					t.Errorf("%s with %q: got %d, want %d", line, auth, res.StatusCode, want)
				}
			}
			res := s.do(t, method, path, "", "Authorization", "Bearer "+testToken)
			if path != executePath && path != loginPath && res.StatusCode == http.StatusUnauthorized {
				t.Errorf("%s with the token: got 401", line)
			}
		})
	}
}

func TestTokensOpenOnlyTheirRoutes(t *testing.T) {
	s := newServer(t, func(o *Options) {
		withToken(o)
		o.APIToken = func() string { return "api-token" }
	})
	for _, token := range []string{testToken, ""} {
		res := s.do(t, "POST", executePath, `{}`, "Authorization", "Bearer "+token)
		if got := readAll(t, res); res.StatusCode != 401 || !strings.Contains(got, "token_required") || !strings.Contains(got, "adapters.api.token") {
			t.Errorf("with the token %q: %d %s", token, res.StatusCode, got)
		}
	}
	wantStatus(t, s.do(t, "POST", executePath, `{}`, "Authorization", "Bearer api-token"), 400, "empty")
	wantStatus(t, s.do(t, "GET", "/api/chats", "", "Authorization", "Bearer api-token"), 401, "token_required")
	wantStatus(t, s.do(t, "GET", "/api/chats?token="+testToken, ""), 401, "token_required")
}

// WE2: there is a token, or the handler was opened for this machine alone.
func TestWE2StartMatrix(t *testing.T) {
	tests := []struct {
		listen, token string
		open          bool
		want          error
	}{
		{"", "", false, ErrTokenRequired},
		{"localhost:3000", "", false, ErrTokenRequired},
		{"", "x", false, nil},
		{"", "", true, nil},
		{"localhost:3000", "", true, nil},
		{"[::1]:3000", "", true, nil},
		{"0.0.0.0:3000", "", true, ErrTokenRequired},
		{":3000", "", true, ErrTokenRequired},
		{"example.org:80", "", true, ErrTokenRequired},
		{"0.0.0.0:3000", "x", true, nil},
		{"0.0.0.0:3000", "x", false, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s %t", tt.listen, tt.token, tt.open), func(t *testing.T) {
			_, err := New(Options{Live: platformtest.NewLive(), Listen: tt.listen, Open: tt.open, Token: func() string { return tt.token }})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestTokenTakenAwayCloses(t *testing.T) {
	token := testToken
	s := newServer(t, func(o *Options) { o.Token = func() string { return token } })
	token = ""
	wantStatus(t, s.do(t, "GET", "/api/chats", ""), 401, "token_required")
}

// WE3 and WE4: pages of other origins and rebound names get nothing.
func TestWE3ForeignPages(t *testing.T) {
	s := newServer(t, nil)
	own := strings.TrimPrefix(s.URL, "http://")
	tests := []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"no headers", "GET", "/api/chats", nil, 200},
		{"own page", "GET", "/api/chats", []string{"Origin", s.URL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"foreign origin", "GET", "/api/chats", []string{"Origin", "http://evil.example"}, 403},
		{"null origin", "GET", "/api/chats", []string{"Origin", "null"}, 403},
		{"foreign stream", "GET", "/api/chat/x/stream", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"foreign events", "GET", "/api/chat/x/events", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"foreign post", "POST", "/api/chat/x/stop", []string{"Origin", "https://" + own}, 200},
		{"foreign port", "POST", "/api/chat/x/stop", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"foreign form", "POST", "/api/chat", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"link to the page", "GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"rebound name", "GET", "/", []string{"Host", "evil.example"}, 403},
		{"rebound name with port", "GET", "/api/chats", []string{"Host", "evil.example:3000"}, 403},
		{"number that is not a loopback", "GET", "/", []string{"Host", "10.0.0.1"}, 403},
		{"localhost", "GET", "/", []string{"Host", "LocalHost:3000"}, 200},
		{"six", "GET", "/", []string{"Host", "[::1]:3000"}, 200},
		{"name of a network", "GET", "/", []string{"Host", "bot.lan:3000"}, 403},
		{"no name", "GET", "/", []string{"Host", ":3000"}, 403},
		{"lookalike", "GET", "/", []string{"Host", "localhost.evil.example"}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if res := s.do(t, tt.method, tt.path, "", tt.headers...); res.StatusCode != tt.want {
				t.Errorf("got %d, want %d: %s", res.StatusCode, tt.want, readAll(t, res))
			}
		})
	}
}

// WE5: the login form sets a cookie that scripts cannot read and that does not contain the token.
func TestLogin(t *testing.T) {
	var log strings.Builder
	s := newServer(t, func(o *Options) {
		withToken(o)
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	form := func(token string) *reply {
		return s.do(t, "POST", loginPath, url.Values{"token": {token}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	page := s.do(t, "GET", "/", "", "Accept", "text/html")
	body := readAll(t, page)
	if page.StatusCode != 401 || !strings.Contains(body, `name="token"`) || strings.Count(body, "<script") != 1 || strings.Contains(body, "src=") {
		t.Errorf("got %d %s, want the form and its one script", page.StatusCode, body)
	}
	if wrong := form("nope"); wrong.StatusCode != 401 || len(wrong.Cookies) != 0 {
		t.Errorf("wrong token: got %d with %d cookies", wrong.StatusCode, len(wrong.Cookies))
	}
	right := form(testToken)
	if right.StatusCode != http.StatusSeeOther || len(right.Cookies) != 1 {
		t.Fatalf("right token: got %d with %d cookies", right.StatusCode, len(right.Cookies))
	}
	c := right.Cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, testToken) {
		t.Errorf("got cookie %+v", c)
	}
	get := func(value string) int {
		return s.do(t, "GET", "/api/chats", "", "Cookie", s.p.guard.cookie+"="+value).StatusCode
	}
	if got := get(c.Value); got != 200 {
		t.Errorf("with the cookie: got %d", got)
	}
	for _, bad := range []string{"", ".", c.Value + "x", "zzzzzzzz." + strings.SplitN(c.Value, ".", 2)[1], testToken} {
		if got := get(bad); got != 401 {
			t.Errorf("with cookie %q: got %d, want 401", bad, got)
		}
	}
	s.p.guard.now = func() time.Time { return time.Now().Add(cookieLife + time.Minute) }
	if got := get(c.Value); got != 401 {
		t.Errorf("after its life: got %d, want 401", got)
	}
	if strings.Contains(log.String(), testToken) {
		t.Error("the token is in the log")
	}
	if out := s.do(t, "POST", "/logout", "", "Authorization", "Bearer "+testToken); out.Cookies[0].MaxAge >= 0 {
		t.Error("logout keeps the cookie")
	}
}

// WE8: ten wrong tokens a minute, then 429 for that peer; cookies still work.
func TestWE8WrongTokens(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := newServer(t, func(o *Options) { withToken(o); o.Registerer = reg })
	session := s.p.guard.session(testToken)
	for i := range tries.Limit {
		wantStatus(t, s.do(t, "GET", "/api/chats", "", "Authorization", "Bearer wrong"), 401, "token_required")
		_ = i
	}
	res := s.do(t, "GET", "/api/chats", "", "Authorization", "Bearer "+testToken)
	if res.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	wantStatus(t, res, 429, "too_many_tries")
	for language, words := range map[string]string{"en": "Too many wrong tokens. Try again in a minute.", "zh-CN": "错误的令牌次数过多，请一分钟后再试。"} {
		res := s.do(t, "POST", loginPath, "token=x", "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html,*/*", "Accept-Language", language)
		if got := readAll(t, res); res.StatusCode != 429 || got != words {
			t.Errorf("a person reads %d %s", res.StatusCode, got)
		}
	}
	if got := s.do(t, "GET", "/api/chats", "", "Cookie", s.p.guard.cookie+"="+session).StatusCode; got != 200 {
		t.Errorf("a session of a limited peer: got %d, want 200", got)
	}
	s.p.guard.now = func() time.Time { return time.Now().Add(tries.Window + time.Second) }
	if got := s.do(t, "GET", "/api/chats", "", "Authorization", "Bearer "+testToken).StatusCode; got != 200 {
		t.Errorf("a minute later: got %d, want 200", got)
	}
}

func TestHeadersAndPage(t *testing.T) {
	s := newServer(t, nil)
	res := s.do(t, "GET", "/", "")
	if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'self';") || strings.Contains(csp, "unsafe") {
		t.Errorf("got policy %q", csp)
	}
	index := readAll(t, res)
	if strings.Contains(index, "style=") || strings.Contains(index, "onclick") || strings.Contains(index, "http://") || strings.Contains(index, "https://") {
		t.Error("the page has inline code or foreign addresses")
	}
	total := 0
	list, err := os.ReadDir("static")
	stdtest.Must(t, err)
	for _, e := range list {
		name := e.Name()
		res := s.do(t, "GET", "/static/"+name, "")
		body := readAll(t, res)
		total += len(body)
		if strings.HasSuffix(name, ".js") && strings.Contains(body, "innerHTML") {
			t.Errorf("%s sets HTML from text", name)
		}
		again := s.do(t, "GET", "/static/"+name, "", "If-None-Match", res.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s again: got %d, want 304", name, again.StatusCode)
		}
	}
	if total > 100_000 {
		t.Errorf("the page has %d bytes, want less than 100 kB", total)
	}
	for _, bad := range []string{"/static/nothing.js", "/static/..%2Fweb.go", "/api/nothing", "/static/"} {
		if got := s.do(t, "GET", bad, ""); got.StatusCode != 404 {
			t.Errorf("%s: got %d, want 404", bad, got.StatusCode)
		}
	}
}

func TestPrivateHandlerAsksNothing(t *testing.T) {
	s := newServer(t, func(o *Options) { withToken(o); o.Private, o.Platform = true, "cli" })
	wantStatus(t, s.do(t, "GET", "/api/chats", "", "Host", "anything"), 200, "")
	wantStatus(t, s.do(t, "POST", "/api/chat", submit("main", "m1", "hi"), "Prefer", "respond-async"), 202, "")
	if in := s.live.Next(t); in.ChatKey != "cli-chat-main" || in.Chat.Type != "cli" {
		t.Errorf("got %s of type %s, want cli-chat-main of type cli", in.ChatKey, in.Chat.Type)
	}
}

// A listener accepts loopback names and its own; one that others reach also accepts IP addresses,
// which no page can use as its name.
func TestWE4OnlyHosts(t *testing.T) {
	tests := []struct {
		listen, host string
		want         int
	}{
		{"127.0.0.1:9464", "127.0.0.1:9464", 200},
		{"127.0.0.1:9464", "localhost", 200},
		{"127.0.0.1:9464", "[::1]:1", 200},
		{"127.0.0.1:9464", "192.0.2.1:9464", 403},
		{"127.0.0.1:9464", "evil.example", 403},
		{"localhost:9464", "evil.example", 403},
		{"0.0.0.0:9464", "192.0.2.1:9464", 200},
		{":9464", "[2001:db8::1]:9464", 200},
		{":9464", "[fe80::1%25evil]:9464", 403},
		{":9464", "evil.example:9464", 403},
		{":9464", "", 403},
		{"Metrics.lan:9464", "metrics.LAN:9464", 200},
		{"metrics.lan:9464", "metrics.lan.evil.example", 403},
		{"192.0.2.1:9464", "192.0.2.1", 200},
		{"no address", "evil.example", 403},
	}
	for _, tt := range tests {
		t.Run(tt.listen+" "+tt.host, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil)
			r.Host = tt.host
			w := httptest.NewRecorder()
			OnlyHosts(tt.listen, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("got %d, want %d", w.Code, tt.want)
			}
		})
	}
}

func FuzzGuardHost(f *testing.F) {
	f.Add("localhost")
	f.Add("[::1]:80")
	f.Fuzz(func(t *testing.T, host string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.Host = host
		if (hosts{}).check(r) != nil {
			return
		}
		if h := hostOnly(host); !strings.EqualFold(h, "localhost") {
			if a, err := netip.ParseAddr(h); err != nil || !a.Unmap().IsLoopback() {
				t.Errorf("host %q was let in", host)
			}
		}
	})
}
