package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// pageHost is a host with a page, an API for programs and a metrics listener, and with a chat that
// strangers would like to read.
type pageHost struct {
	*project
	h       *Host
	token   string // of the page
	cookie  string // of a browser that is logged in
	foreign string // such a cookie of another host
	asked   int    // requests to the model by those who may ask
	model   *modeltest.Script
}

const apiToken = "canary-api-token-0123456789"

func newPageHost(t *testing.T) *pageHost {
	t.Helper()
	p := newProject(t)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters": {"api": {"enabled": true, "token": "`+apiToken+`"}}}`)
	s := &pageHost{project: p, model: modeltest.NewScript(modeltest.Say("canary-answer"))}
	s.h = p.start(t, Options{Model: s.model}, pageFlags(p))
	s.token = s.h.login.token.Reveal()
	if got := post(t, s.h, "m1", "canary-question"); !strings.Contains(got, "canary-") || !strings.HasSuffix(got, "[DONE]\n\n") { // its last letters may wait, as the begin of a secret would
		t.Fatalf("the owner is answered %q", got)
	}
	s.asked, s.cookie = len(s.model.Requests()), logIn(t, s.h)
	other := newProject(t)
	s.foreign = logIn(t, other.start(t, Options{}, map[string]string{"llm.provider": "demo"}))
	return s
}

// pageFlags turn the page on and Telegram off.
func pageFlags(p *project) map[string]string {
	return merged(telegramFlags(p), map[string]string{"adapters.telegram.enabled": "false", "adapters.web.enabled": "true"})
}

// logIn submits the form of the login page and returns the cookie.
func logIn(t *testing.T, h *Host) string {
	t.Helper()
	form := url.Values{"token": {h.login.token.Reveal()}}.Encode()
	got := exchange(t, h.webAddr, nil, "POST /login HTTP/1.1\nHost: {addr}\nConnection: close\nContent-Type: application/x-www-form-urlencoded\nContent-Length: "+
		fmt.Sprint(len(form))+"\n\n"+form)
	_, rest, found := strings.Cut(got, "Set-Cookie: ")
	cookie, _, _ := strings.Cut(rest, ";")
	if !found || !strings.HasPrefix(got, "HTTP/1.1 303") {
		t.Fatalf("the login is answered %q", got)
	}
	return cookie
}

// exchange sends bytes to an address, from another loopback address if from is one, and returns the
// complete response.
func exchange(t *testing.T, address string, from net.IP, words string) string {
	t.Helper()
	address = strings.TrimPrefix(address, "http://")
	head, body, _ := strings.Cut(strings.ReplaceAll(words, "{addr}", address), "\n\n")
	d := net.Dialer{Timeout: 5 * time.Second}
	if from != nil {
		d.LocalAddr = &net.TCPAddr{IP: from}
	}
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil && from != nil { // not every system has all of 127.0.0.0/8
		return exchange(t, address, nil, words)
	}
	stdtest.Must(t, err)
	defer func() { _ = conn.Close() }() // read to its end
	stdtest.Must(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(bufio.NewReader(conn))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return string(got) + " (and it does not end)"
	}
	return string(got) // a reset after a refusal is an end
}

// try is one attempt to get something without being let in.
type try struct{ name, words string }

func tryTo(name, line string, headers ...string) try {
	words := line + " HTTP/1.1\nConnection: close\n"
	if !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Host: ") }) {
		words += "Host: {addr}\n"
	}
	return try{name, words + strings.Join(append(headers, ""), "\n") + "\n"}
}

func tryBody(name, line, body string, headers ...string) try {
	a := tryTo(name, line, append(headers, fmt.Sprintf("Content-Length: %d", len(body)))...)
	a.words += body
	return a
}

const chatBody = `{"id":"c1","trigger":"submit-message","message":{"id":"evil","role":"user","parts":[{"type":"text","text":"hi"}]}}`

// strangers know addresses and nothing else.
func strangers() []try {
	tries := []try{
		tryBody("a message", "POST /api/chat", chatBody, "Content-Type: application/json"),
		tryBody("a message as plain text", "POST /api/chat", chatBody, "Content-Type: text/plain"),
		tryBody("a message to stop", "POST /api/chat/c1/stop", "{}", "Content-Type: application/json"),
		tryBody("an instruction of the API", "POST /api/execute", `{"instructions":"hi"}`, "Content-Type: application/json"),
		tryBody("logging out", "POST /logout", ""),
		tryTo("a WebSocket", "GET /api/chat/c1/events", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
		tryTo("HTTP/2 in clear text", "GET /api/chats", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
		tryTo("a stream from its middle", "GET /api/chat/c1/stream", "Accept: text/event-stream", "Last-Event-ID: 1"),
		tryTo("X-Forwarded-For", "GET /api/chats", "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1"),
		tryTo("X-Forwarded-Host", "GET /api/chats", "X-Forwarded-Host: localhost", "X-Forwarded-Proto: https"),
		tryTo("X-Forwarded-User", "GET /api/chats", "X-Forwarded-User: owner", "X-Remote-User: owner", "Remote-User: owner"),
		tryTo("another method by a header", "POST /api/chats", "X-HTTP-Method-Override: GET", "Content-Length: 0"),
		tryTo("another path by a header", "GET /livez", "X-Original-URL: /api/chats", "X-Rewrite-URL: /api/chats"),
		tryTo("Host localhost", "GET /api/chats", "Host: localhost"),
		tryTo("a rebound name", "GET /api/chats", "Host: evil.example:3000", "Origin: http://evil.example:3000", "Sec-Fetch-Site: same-origin"),
		tryTo("a Host with a user", "GET /api/chats", "Host: localhost@evil.example"),
		tryTo("a Host with two ports", "GET /api/chats", "Host: evil.example:80:3000"),
		tryTo("two Hosts", "GET /api/chats", "Host: localhost", "Host: evil.example"),
		{"no Host", "GET /api/chats HTTP/1.0\n\n"},
		{"HTTP/0.9", "GET /api/chats\n\n"},
		{"an address of a proxy", "GET http://evil.example/api/chats HTTP/1.1\nHost: {addr}\nConnection: close\n\n"},
		{"a tunnel", "CONNECT 127.0.0.1:80 HTTP/1.1\nHost: {addr}\nConnection: close\n\n"},
		{"a second request in a body", "POST /livez HTTP/1.1\nHost: {addr}\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\r\n\r\nGET /api/chats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
	}
	for _, path := range []string{
		"/", "/login", "/favicon.ico", "/static/app.js", "/api/", "/api/info", "/api/chats", "/api/chat/c1", "/api/chat/c1/view", "/api/chat/c1/stream",
		"/api/chat/c1/events", "/api/chat/c1/voice/a.ogg", "/api/execute", "/metrics", "/control/login", "/control/status", "/.ship/web.token",
		"//api/chats", "/./api/chats", "/x/../api/chats", "/api/..;/api/chats", "/%61pi/chats", "/api%2fchats", "/%2e/api/chats", "/livez/../api/chats", "/livez/%2e%2e/api/chats",
		"/livez;/api/chats", "/livez%00/api/chats", "/LIVEZ", "/static/..%2f..%2f..%2fweb.token", "/login/../api/chats", "/api/chats?", "/api/chats#/livez",
	} {
		tries = append(tries, tryTo("GET "+path, "GET "+path))
	}
	for _, method := range []string{"HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "PROPFIND", "get"} {
		tries = append(tries, tryTo(method, method+" /api/chats", "Content-Length: 0"))
	}
	return tries
}

// guessers send something that is not the token, or the token where it does not belong.
func (s *pageHost) guessers() []try {
	bearer := func(name, token string) try { return tryTo(name, "GET /api/chats", "Authorization: Bearer "+token) }
	form := func(name, field, token string) try {
		return tryBody(name, "POST /login", url.Values{field: {token}}.Encode(), "Content-Type: application/x-www-form-urlencoded")
	}
	cookie := func(name, value string) try { return tryTo(name, "GET /api/chats", "Cookie: "+value) }
	name, value, _ := strings.Cut(s.cookie, "=")
	_, foreign, _ := strings.Cut(s.foreign, "=")
	end, signature, _ := strings.Cut(value, ".")
	tries := []try{
		bearer("an empty token", ""), bearer("blanks", "   "), bearer("a wrong token", strings.Repeat("A", len(s.token))),
		bearer("all but the last letter", s.token[:len(s.token)-1]), bearer("all but the first letter", s.token[1:]), bearer("a letter more", s.token+"A"),
		bearer("the token twice", s.token+s.token), bearer("the token and another word", s.token+" x"), bearer("a list of tokens", "x, "+s.token),
		bearer("other cases", swapCase(s.token)), bearer("a NUL", s.token+"\x00"), bearer("a quoted token", `"`+s.token+`"`), bearer("an escaped letter", fmt.Sprintf("%%%02x", s.token[0])+s.token[1:]),
		bearer("the token of the API", apiToken), bearer("the cookie", s.cookie), bearer("undefined", "undefined"), bearer("null", "null"),
		tryTo("Basic, as a password", "GET /api/chats", "Authorization: Basic b3duZXI6eA=="), tryTo("Basic, the token", "GET /api/chats", "Authorization: Basic "+s.token),
		tryTo("no kind", "GET /api/chats", "Authorization: "+s.token), tryTo("another kind", "GET /api/chats", "Authorization: Token "+s.token),
		tryTo("the second of two headers", "GET /api/chats", "Authorization: Bearer x", "Authorization: Bearer "+s.token),
		tryTo("another header", "GET /api/chats", "X-API-Key: "+s.token, "X-Auth-Token: "+s.token, "Proxy-Authorization: Bearer "+s.token),
		tryTo("the query", "GET /api/chats?token="+s.token), tryTo("the query, as of OAuth", "GET /api/chats?access_token="+s.token), tryTo("the path", "GET /"+s.token+"/api/chats"),
		tryTo("a user in the address", "GET /api/chats", "Host: owner:"+s.token+"@localhost"),
		form("the form with a wrong token", "token", "x"), form("the form with none", "token", ""), form("the form with another field", "password", s.token), form("the form with the token of the API", "token", apiToken),
		tryBody("the form in the query", "POST /login?token="+s.token, "", "Content-Type: application/x-www-form-urlencoded"),
		tryBody("the form as JSON", "POST /login", `{"token":"`+s.token+`"}`, "Content-Type: application/json"),
		tryBody("the page's token for the API", "POST /api/execute", `{"instructions":"hi"}`, "Content-Type: application/json", "Authorization: Bearer "+s.token),
		cookie("the token as a cookie", name+"="+s.token), cookie("a cookie named token", "token="+s.token), cookie("a cookie of another host", name+"="+foreign),
		cookie("a cookie that ends later", name+"=zzzzzzzz."+signature), cookie("a cookie without a signature", name+"="+end+"."), cookie("an empty cookie", name+"="),
		cookie("a signature with more", s.cookie+"A"), cookie("another name", "sma_session="+value),
	}
	return tries
}

// pages are attacks by pages of strangers in the browser of a logged-in person.
func (s *pageHost) pages() []try {
	by := func(name, line string, headers ...string) try {
		return tryTo(name, line, append(headers, "Cookie: "+s.cookie)...)
	}
	form := "Content-Type: application/x-www-form-urlencoded"
	return []try{
		by("a foreign page reads", "GET /api/chats", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"),
		by("a page without an origin reads", "GET /api/chats", "Origin: null"),
		by("a page of another port reads", "GET /api/chats", "Origin: http://127.0.0.1:1"),
		by("localhost reads 127.0.0.1", "GET /api/chats", "Origin: http://localhost:3000", "Sec-Fetch-Site: cross-site"),
		by("an image of a foreign page", "GET /api/chat/c1/voice/a.ogg", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"),
		by("a foreign stream", "GET /api/chat/c1/stream", "Sec-Fetch-Site: same-site"), by("foreign events", "GET /api/chat/c1/events", "Origin: https://evil.example"),
		by("a foreign preflight", "OPTIONS /api/chat", "Origin: https://evil.example", "Access-Control-Request-Method: POST"),
		tryBody("a foreign form", "POST /api/chat", chatBody, "Cookie: "+s.cookie, "Origin: https://evil.example", "Content-Type: text/plain"),
		tryBody("a foreign form without an origin", "POST /api/chat", chatBody, "Cookie: "+s.cookie, "Sec-Fetch-Site: cross-site", form),
		tryBody("a foreign form that logs out", "POST /logout", "", "Cookie: "+s.cookie, "Origin: null", form),
		tryBody("a foreign form that logs in", "POST /login", "token="+s.token, "Origin: https://evil.example", form),
		tryBody("a foreign form that stops", "POST /api/chat/c1/stop", "{}", "Cookie: "+s.cookie, "Origin: http://127.0.0.1:1"),
	}
}

// scrapers ask the metrics listener under a host name of their own.
func scrapers() []try {
	var tries []try
	for _, host := range []string{
		"evil.example", "evil.example:9464", "127.0.0.1.evil.example", "localhost.evil.example", "localhost.", "10.0.0.1", "0.0.0.0", "[::ffff:10.0.0.1]",
		"user@localhost", "localhost@evil.example", "127.1", "2130706433", "0x7f000001", "[::1%25evil]", "localhost:1:2", "",
	} {
		tries = append(tries, tryTo("metrics of Host "+host, "GET /metrics", "Host: "+host))
	}
	for _, path := range []string{"/readyz?verbose", "/livez", "/healthz", "//metrics", "/./metrics", "/x"} {
		tries = append(tries, tryTo("a foreign Host, "+path, "GET "+path, "Host: evil.example:9464"))
	}
	return append(tries,
		tryTo("a foreign Host that was forwarded", "GET /metrics", "Host: evil.example", "X-Forwarded-Host: localhost", "Forwarded: host=localhost"),
		try{"a foreign address of a proxy", "GET http://evil.example/metrics HTTP/1.1\nHost: localhost\nConnection: close\n\n"},
		try{"metrics without a Host", "GET /metrics HTTP/1.0\n\n"},
	)
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return r
		}
	}, s)
}

// Whoever is not let in gets nothing: no page, no chat, no cookie, no run, and no text that is not
// public. Each try comes from another address, so that no try is refused just because earlier ones
// were wrong.
func TestStrangersGetNothing(t *testing.T) {
	s := newPageHost(t)
	good := regexp.MustCompile(`(?m)^HTTP/\d\.\d (1|2)\d\d`)
	never := []string{"canary", s.token, "Set-Cookie: sma_session", "<title>Test", "app.js", "go_goroutines", "sma_", `"platforms"`, "does not end"}
	names := map[string]bool{}
	for where, tries := range map[string][]try{s.h.webAddr: append(append(strangers(), s.guessers()...), s.pages()...), s.h.metricsAddr: scrapers()} {
		for i, a := range tries {
			t.Run(a.name, func(t *testing.T) {
				got := exchange(t, where, net.IPv4(127, 1, byte(i/200), byte(i%200+1)), a.words)
				if allowed := a.name == "another path by a header" && strings.HasSuffix(got, "\r\n\r\nok\n"); good.MatchString(got) && !allowed {
					t.Errorf("it got %.300q", got)
				}
				if runtime.GOOS == "linux" && strings.Contains(got, " 429 ") {
					t.Error("it was refused for those before it")
				}
				for _, word := range never {
					if strings.Contains(got, word) {
						t.Errorf("the answer holds %q: %.300q", word, got)
					}
				}
			})
			if names[where+a.name] {
				t.Errorf("there are two tries %q", a.name)
			}
			names[where+a.name] = true
		}
	}
	if n := len(s.model.Requests()); n != s.asked {
		t.Errorf("the model was asked %d times, want %d", n, s.asked)
	}
	if strings.Contains(s.log.String(), s.token) || strings.Contains(s.log.String(), s.cookie) {
		t.Error("the log tells the token or a cookie")
	}
	t.Logf("%d tries", len(names))
}

// The token and a cookie let people in, under every name of this machine.
func TestWhoIsLetIn(t *testing.T) {
	s := newPageHost(t)
	for _, a := range []struct {
		where string
		try
	}{
		{s.h.webAddr, tryTo("the token", "GET /api/chats", "Authorization: Bearer "+s.token)},
		{s.h.webAddr, tryTo("the cookie", "GET /api/chats", "Cookie: "+s.cookie)},
		{s.h.webAddr, tryTo("the cookie on the own page", "GET /api/chats", "Cookie: "+s.cookie, "Origin: http://{addr}", "Sec-Fetch-Site: same-origin")},
		{s.h.webAddr, tryTo("by a proxy's name", "GET /api/chats", "Host: bot.example", "Authorization: Bearer "+s.token)},
		{s.h.webAddr, tryTo("a link to the page", "GET /", "Cookie: "+s.cookie, "Sec-Fetch-Site: cross-site")},
		{s.h.webAddr, tryTo("liveness", "GET /livez")},
		{s.h.webAddr, tryBody("the API", "POST /api/execute", `{"instructions":"/status"}`, "Content-Type: application/json", "Authorization: Bearer "+apiToken)},
		{s.h.metricsAddr, tryTo("metrics", "GET /metrics")},
		{s.h.metricsAddr, tryTo("metrics of localhost", "GET /metrics", "Host: LocalHost:9464")},
		{s.h.metricsAddr, tryTo("metrics of ::1", "GET /readyz?verbose", "Host: [::1]:9464")},
	} {
		t.Run(a.name, func(t *testing.T) {
			if got := exchange(t, a.where, nil, a.words); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
				t.Errorf("got %.300q", got)
			}
		})
	}
}

// A browser sends its cookies to all ports of a machine, and keeps one of each name. Logging in to or out of a bot
// there leaves its login to another alone.
func TestTwoBotsOfOneMachine(t *testing.T) {
	first, second := newProject(t), newProject(t)
	bots := []*Host{first.start(t, Options{}, map[string]string{"llm.provider": "demo"}), second.start(t, Options{}, map[string]string{"llm.provider": "demo"})}
	jar, err := cookiejar.New(nil)
	stdtest.Must(t, err)
	browser := &http.Client{Jar: jar}
	open := func(bot *Host, path string, form url.Values) int {
		t.Helper()
		method := http.MethodPost
		if form == nil {
			method = http.MethodGet
		}
		r, err := http.NewRequestWithContext(t.Context(), method, bot.webAddr+path, strings.NewReader(form.Encode()))
		stdtest.Must(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := browser.Do(r)
		stdtest.Must(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, bot := range bots {
		if got := open(bot, "/login", url.Values{"token": {bot.login.token.Reveal()}}); got != http.StatusOK {
			t.Fatalf("the login is answered with %d", got)
		}
	}
	for i, bot := range bots {
		for _, path := range []string{"/api/chats", "/console/api/me"} {
			if got := open(bot, path, nil); got != http.StatusOK {
				t.Errorf("after both logins bot %d answers %s with %d", i, path, got)
			}
		}
	}
	open(bots[1], "/logout", url.Values{})
	if one, two := open(bots[0], "/api/chats", nil), open(bots[1], "/api/chats", nil); one != http.StatusOK || two != http.StatusUnauthorized {
		t.Errorf("after the logout of the second bot they answer %d and %d, want 200 and 401", one, two)
	}
}

// The token and a login with it survive a restart; a login with a-token-that-was-chosen, and may be short, does not.
// After the file is removed, neither the token nor anything derived from it opens anything.
func TestTheTokenOfTheFile(t *testing.T) {
	p := newProject(t)
	flags := map[string]string{"llm.provider": "demo"}
	run := func(work func(h *Host)) {
		t.Helper()
		h := p.prepare(t, Options{}, flags)
		stdtest.Must(t, h.Start(t.Context()))
		work(h)
		if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	status := func(h *Host, header string) string {
		t.Helper()
		got := exchange(t, h.webAddr, nil, tryTo("", "GET /api/chats", header).words)
		return strings.TrimPrefix(got[:min(len(got), 12)], "HTTP/1.1 ")
	}
	var token, cookie string
	run(func(h *Host) { token, cookie = "Authorization: Bearer "+h.login.token.Reveal(), "Cookie: "+logIn(t, h) })
	run(func(h *Host) {
		if got := status(h, token); got != "200" {
			t.Errorf("after a restart the token gets %s", got)
		}
		if got := status(h, cookie); got != "200" {
			t.Errorf("after a restart the cookie gets %s", got)
		}
	})
	settings := filepath.Join(p.dir, "ship.json")
	stdtest.Write(t, settings, `{"adapters": {"web": {"token": "a-token-that-was-chosen"}}}`)
	var chosen string
	run(func(h *Host) { chosen = "Cookie: " + logIn(t, h) })
	run(func(h *Host) {
		for _, old := range []string{chosen, cookie} {
			if got := status(h, old); got != "401" {
				t.Errorf("after a restart with a chosen token %.14q gets %s", old, got)
			}
		}
	})
	stdtest.Must(t, errors.Join(os.Remove(settings), os.Remove(TokenFile(filepath.Join(p.dir, ".ship")).Path())))
	run(func(h *Host) {
		for _, old := range []string{token, cookie} {
			if got := status(h, old); got != "401" {
				t.Errorf("after the change %.14q gets %s", old, got)
			}
		}
	})
}

// A file that somebody else may read stops the start, and the error says what to do.
func TestTokenFilesThatStopTheStart(t *testing.T) {
	good := strings.Repeat("a", 43)
	for name, put := range map[string]func(path string) error{
		"a link": func(path string) error {
			return errors.Join(os.WriteFile(path+".x", []byte(good), 0o600), os.Symlink(path+".x", path))
		},
		"readable by all": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chmod(path, 0o644))
		},
		"writable by a group": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chmod(path, 0o660))
		},
		"too short":             func(path string) error { return os.WriteFile(path, []byte("short"), 0o600) },
		"a folder in its place": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			path := TokenFile(filepath.Join(p.dir, ".ship")).Path()
			stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), put(path)))
			h := p.prepare(t, Options{}, map[string]string{"llm.provider": "demo"})
			err := h.Start(t.Context())
			f, ok := errors.AsType[*Failure](err)
			if !ok || !strings.Contains(f.Error()+f.Help, path) || strings.Contains(f.Error()+f.Help, good) {
				t.Fatalf("start = %v, %+v, want a failure that names %s", err, f, path)
			}
			if len(h.cleanups.steps) > 0 {
				t.Errorf("%d parts were left", len(h.cleanups.steps))
			}
		})
	}
}

// No setting opens the page without a token. An open page serves loopback only.
func TestOnlyTheDemonstrationIsOpen(t *testing.T) {
	p := newProject(t)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters": {"web": {"open": true, "noToken": true}}, "open": true}`)
	flags := map[string]string{"llm.provider": "demo"}
	h := p.start(t, Options{}, flags)
	if code, _ := get(t, h.webAddr+"/api/chats"); code != http.StatusUnauthorized || h.login.by != LoginFile {
		t.Errorf("a setting of the project opens the page: %d, %s", code, h.login.by)
	}
	demo := newProject(t)
	open := demo.start(t, Options{Open: true}, flags)
	if code, _ := get(t, open.webAddr+"/api/chats"); code != http.StatusOK {
		t.Errorf("the demonstration answers %d", code)
	}
	if got := exchange(t, open.webAddr, nil, tryTo("", "GET /api/chats", "Host: evil.example").words); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
		t.Errorf("a rebound name gets %.200q", got)
	}
	if _, err := os.Lstat(TokenFile(open.opts.State).Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the demonstration made a token: %v", err)
	}
}

// The token that the host made is only in its file. It is not in anything that the host logs, shows or
// stores, or in the answer of a model that has got the token.
func TestTheMadeTokenIsNowhere(t *testing.T) {
	p := newProject(t)
	var h *Host
	tell := modeltest.NewFunc(func(model.Request) []model.Event {
		return append(modeltest.TextEvents("I know "+h.login.token.Reveal()), modeltest.Finish("stop"))
	})
	h = p.start(t, Options{Model: tell}, pageFlags(p))
	said := post(t, h, "m1", "hello")
	_ = logIn(t, h)
	_, info := getPage(t, h, "/api/info")
	_, metrics := get(t, "http://"+h.metricsAddr+"/metrics")
	_, ready := get(t, "http://"+h.metricsAddr+"/readyz?verbose")
	summary, err := h.Summary(t.Context())
	if err != nil || summary.Login.IsZero() {
		t.Errorf("no login link, %v", err)
	}
	outputs := map[string]string{
		"the answer": said, "the page's information": info, "the metrics": metrics, "readyz": ready, "the status": jsonOf(t, h.Status(t.Context())),
		"the summary": fmt.Sprintf("%v %+v %#v", summary, summary, summary) + jsonOf(t, summary), "the log": p.log.String(),
	}
	token := h.login.token.Reveal()
	for name, text := range stdtest.Files(t, p.dir) {
		if path := filepath.Join(p.dir, name); path != TokenFile(h.opts.State).Path() {
			outputs[path] = text
		}
	}
	for where, text := range outputs {
		if strings.Contains(text, token) {
			t.Errorf("%s: there is the token", where)
		}
	}
	if !strings.Contains(said, "********") {
		t.Errorf("the answer is %q: the leak did not happen", said)
	}
	t.Logf("%d outputs", len(outputs))
}
