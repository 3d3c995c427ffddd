package webconsole

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	ownerToken  = "owner-token-0123456789"
	viewerToken = "viewer-token-0123456789"
	marker      = "a private text"
)

// forViewers and forOwners are the table once more: a route that is added to it must be added to one of them.
func forViewers() []string {
	return []string{"GET status", "GET gauges", "GET chats", "GET chat", "GET ask/models", "GET ask/usage", "GET actors"}
}

func forOwners() []string {
	return []string{
		"GET follow", "GET search", "GET approvals", "GET grants", "GET outbox", "GET tools", "GET mcp",
		"GET ask/doctor", "GET ask/doctor-online", "GET ask/config-check", "GET ask/config-show", "GET ask/bots", "GET ask/models-check",
		"GET ask/tasks", "GET ask/memories", "GET ask/memory", "GET ask/people", "GET ask/skills", "GET ask/log", "GET ask/archives",
		"POST approvals", "POST grants", "POST outbox", "POST forget", "POST rewind", "POST tasks", "POST mcp", "POST people", "POST memory",
		"POST skills", "POST unload", "POST pause", "GET contexts",
	}
}

// documents are what the host answers: private texts wherever somebody could have put one.
func documents() map[string]string {
	return map[string]string{
		"/control/status": `{"state":"ready"}`, "/control/gauges": `{"a":1}`, "/control/ask/models": `{"value":[]}`, "/control/actors": `{"chats":[]}`,
		"/control/ask/usage": `{"value":{"usage":[{"day":"2026-01-02","chatKey":"web-chat-x","person":"` + marker + `","model":"m","calls":2,"usd":0.5,"later":"` + marker + `"}],"limits":{"runTokens":9},"today":"2026-01-02","later":"` + marker + `"}}`,
		"/control/chats":     `[{"chatKey":"web-chat-x","updatedAt":"2026-01-02T03:04:05Z","paused":true,"name":"` + marker + `","later":"` + marker + `"}]`,
		"/control/chat": `{"chatKey":"web-chat-x","running":true,"counts":{"accepted":2,"open":1,"fates":{},"outboxPending":0,"later":"` + marker +
			`"},"messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"` + marker + `"}]}],"waiting":[{"id":"` + marker + `"}],"later":"` + marker + `"}`,
	}
}

// page is a console on a web platform, whose host answers every order and question.
type page struct {
	handler http.Handler
	asked   []string
}

func newPage(t *testing.T, change func(*web.Options)) *page {
	t.Helper()
	p := &page{}
	made := New(Options{Project: "p", Version: "v", Control: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked = append(p.asked, r.Method+" "+r.URL.Path)
		doc := documents()[r.URL.Path]
		if doc == "" {
			doc = `{"text":"` + marker + `"}`
		}
		_, _ = io.WriteString(w, doc)
	})})
	o := web.Options{
		Live: platformtest.NewLive(), Console: made, Token: func() string { return ownerToken }, ViewerToken: func() string { return viewerToken },
	}
	if change != nil {
		change(&o)
	}
	served, err := web.New(o)
	stdtest.Must(t, err)
	p.handler = served.Handler()
	return p
}

// do sends a request from an address of its own, so that wrong tokens are not too many.
func (p *page) do(t *testing.T, n int, method, path, token string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/console/"+path, strings.NewReader("{}"))
	r.RemoteAddr = "192.0.2." + string(rune('0'+n%10)) + ":1"
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	return w
}

// The two lists say which role gets an answer from which route; every other request is refused.
func TestWE12EveryRouteAndEveryRole(t *testing.T) {
	rows := slices.Sorted(maps.Keys(table()))
	if diff := cmp.Diff(slices.Sorted(slices.Values(slices.Concat(forViewers(), forOwners()))), rows); diff != "" {
		t.Fatalf("the table has other routes (-want +got):\n%s", diff)
	}
	for i, route := range rows {
		t.Run(route, func(t *testing.T) {
			method, path, _ := strings.Cut(route, " ")
			other := map[string]string{"GET": "POST", "POST": "GET"}[method]
			viewers, open, swapped := http.StatusForbidden, http.StatusOK, http.StatusNotFound
			if slices.Contains(forViewers(), route) {
				viewers = http.StatusOK
			}
			if method == "POST" {
				open = http.StatusForbidden
			}
			if _, both := table()[other+" "+path]; both {
				swapped = http.StatusOK
			}
			p := newPage(t, nil)
			unlocked := newPage(t, func(o *web.Options) { o.Open, o.Token = true, nil })
			for _, tt := range []struct {
				who     string
				p       *page
				method  string
				token   string
				headers []string
				want    int
			}{
				{"nobody", p, method, "", nil, 401},
				{"a wrong token", p, method, "wrong", nil, 401},
				{"a viewer", p, method, viewerToken, nil, viewers},
				{"the owner", p, method, ownerToken, nil, 200},
				{"anyone while it is open", unlocked, method, "", nil, open},
				{"a foreign page, of a viewer", p, method, viewerToken, []string{"Sec-Fetch-Site", "cross-site"}, 403},
				{"a foreign page, of the owner", p, method, ownerToken, []string{"Origin", "https://evil.example"}, 403},
				{"a foreign page while it is open", unlocked, method, "", []string{"Sec-Fetch-Site", "same-site"}, 403},
				{"the owner, the other method", p, other, ownerToken, nil, swapped},
				{"a viewer, the other method", p, other, viewerToken, nil, 403},
				{"the owner, HEAD", p, "HEAD", ownerToken, nil, 404},
				{"the owner, PUT", p, "PUT", ownerToken, nil, 404},
			} {
				tt.p.asked = nil
				w := tt.p.do(t, i, tt.method, "api/"+path, tt.token, tt.headers...)
				if w.Code != tt.want || (len(tt.p.asked) > 0) != (tt.want == http.StatusOK) {
					t.Errorf("%s: got %d after asking %q, want %d", tt.who, w.Code, tt.p.asked, tt.want)
				}
				if strings.HasPrefix(tt.who, "a viewer") && strings.Contains(w.Body.String(), marker) {
					t.Errorf("%s: reads %s", tt.who, w.Body)
				}
			}
			if method == "POST" {
				if w := p.do(t, i, method, "api/"+path, ownerToken, "Content-Type", "text/plain"); w.Code != http.StatusUnsupportedMediaType {
					t.Errorf("an order as a form: got %d", w.Code)
				}
			}
		})
	}
}

func TestMe(t *testing.T) {
	p, open := newPage(t, nil), newPage(t, func(o *web.Options) { o.Open, o.Token = true, nil })
	for _, tt := range []struct {
		p           *page
		token, want string
	}{
		{p, ownerToken, `{"role":"owner","orders":true,"project":"p","version":"v"}`},
		{p, viewerToken, `{"role":"viewer","orders":false,"project":"p","version":"v"}`},
		{open, "", `{"role":"open","orders":false,"project":"p","version":"v"}`},
	} {
		if got := strings.TrimSpace(tt.p.do(t, 0, "GET", "api/me", tt.token).Body.String()); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// An unknown role gets no more than a viewer.
func TestWithoutARole(t *testing.T) {
	served := New(Options{Control: http.NotFoundHandler()})
	for _, route := range forOwners() {
		method, path, _ := strings.Cut(route, " ")
		w := httptest.NewRecorder()
		served.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/console/api/"+path, http.NoBody))
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: got %d, want 403", route, w.Code)
		}
	}
}

// What is left of a chat for viewers are its counts.
func TestViewersSeeCounts(t *testing.T) {
	p := newPage(t, nil)
	for path, want := range map[string]string{
		"api/chats":     `[{"chatKey":"web-chat-x","paused":true,"updatedAt":"2026-01-02T03:04:05Z"}]`,
		"api/ask/usage": `{"value":{"limits":{"runTokens":9},"today":"2026-01-02","usage":[{"calls":2,"chatKey":"web-chat-x","day":"2026-01-02","model":"m","usd":0.5}]}}`,
		"api/chat":      `{"chatKey":"web-chat-x","counts":{"accepted":2,"fates":{},"open":1,"outboxPending":0},"running":true}`,
	} {
		if got := strings.TrimSpace(p.do(t, 0, "GET", path, viewerToken).Body.String()); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// A failure of the host may quote settings with names of people, so viewers do not read its words either.
func TestViewersDoNotReadFailures(t *testing.T) {
	served := New(Options{Control: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"failure":{"code":2,"what":"`+marker+`","help":"`+marker+`","later":"`+marker+`"}}`)
	})})
	p := newPage(t, func(o *web.Options) { o.Console = served })
	for _, path := range []string{"api/ask/usage", "api/ask/models"} {
		if w := p.do(t, 0, "GET", path, viewerToken); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"failure":{"code":2}}` {
			t.Errorf("%s: a viewer reads %d %s", path, w.Code, w.Body)
		}
		if w := p.do(t, 0, "GET", path, ownerToken); strings.Count(w.Body.String(), marker) != 3 {
			t.Errorf("%s: the owner reads %s", path, w.Body)
		}
	}
}

// The list of chats is sent again only after a change, and the tag of one role does not count for another.
func TestChatsHaveATag(t *testing.T) {
	p := newPage(t, nil)
	first := p.do(t, 0, "GET", "api/chats", ownerToken)
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("the tag is %q, with %q", tag, first.Header().Get("Cache-Control"))
	}
	for _, tt := range []struct {
		token, tag string
		want       int
	}{
		{ownerToken, tag, 304}, {ownerToken, "W/" + tag, 304}, {ownerToken, `"other"`, 200}, {viewerToken, tag, 200},
	} {
		if w := p.do(t, 0, "GET", "api/chats", tt.token, "If-None-Match", tt.tag); w.Code != tt.want || (w.Body.Len() == 0) != (tt.want == 304) {
			t.Errorf("%s: got %d with %d bytes, want %d", tt.tag, w.Code, w.Body.Len(), tt.want)
		}
	}
}

// Refusals keep their status, but viewers do not read their words, which may have names in them.
func TestRefusalsOfTheHost(t *testing.T) {
	served := New(Options{Control: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control.Refuse(w, http.StatusServiceUnavailable, platform.ErrUnavailable)
	})})
	p := newPage(t, func(o *web.Options) { o.Console = served })
	for token, want := range map[string]string{viewerToken: "service unavailable", ownerToken: platform.ErrUnavailable.Error()} {
		var got struct{ Error string }
		w := p.do(t, 0, "GET", "api/chats", token)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 503 || got.Error != want || w.Header().Get("ETag") != "" {
			t.Errorf("got %d %q (%v), want 503 %q", w.Code, got.Error, err, want)
		}
	}
}

// An order may take longer than the web platform gives its own requests.
func TestOrdersMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := New(Options{Control: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute): // simulated
				_, _ = io.WriteString(w, "done")
			}
		})})
		p, pipe := newPage(t, func(o *web.Options) { o.Console = served }), faketest.NewPipe(t)
		s := &http.Server{Handler: p.handler, ReadHeaderTimeout: time.Minute}
		defer s.Close()  //nolint:errcheck // everything was answered
		go s.Serve(pipe) //nolint:errcheck // until then
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/console/api/mcp", strings.NewReader("{}"))
		stdtest.Must(t, err)
		req.Header.Set("Authorization", "Bearer "+ownerToken)
		req.Header.Set("Content-Type", "application/json")
		res, err := pipe.Client().Do(req)
		stdtest.Must(t, err)
		defer func() { _ = res.Body.Close() }() // read to its end
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != "done" {
			t.Errorf("got %q, %v", body, err)
		}
	})
}

// timed remembers until when a response may be written.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.until = at
	return nil
}

// The console waits for each answer as long as the host may take for it.
func TestAnswersHaveTheirTime(t *testing.T) {
	p := newPage(t, nil)
	for line, least := range map[string]time.Duration{
		"POST mcp": 6 * time.Minute, "GET search": 6 * time.Minute, "POST forget": 2 * time.Minute, "GET ask/doctor-online": 2 * time.Minute, "GET chats": time.Minute,
	} {
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/console/api/"+path, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer "+ownerToken)
		r.Header.Set("Content-Type", "application/json")
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		p.handler.ServeHTTP(w, r)
		if got := time.Until(w.until); w.Code != http.StatusOK || got < least {
			t.Errorf("%s: answered %d, within %v, want at least %v", line, w.Code, got.Round(time.Second), least)
		}
	}
}

// Every row names a route of package control; the last five are the host's own.
func TestRowsNameRoutes(t *testing.T) {
	desk, err := query.OpenStopped(query.StoppedOptions{State: t.TempDir() + "/none"})
	stdtest.Must(t, err)
	order := func(context.Context, []byte) (any, error) { return nil, nil } //nolint:nilnil // never called
	mux := control.Routes(control.Options{
		Desk: desk, Metrics: prometheus.NewRegistry(), Orders: map[string]func(context.Context, []byte) (any, error){"people": order, "memory": order, "skills": order},
		Watch: func(context.Context, messages.ChatKey) (<-chan platform.Frame, error) {
			return nil, platform.ErrNotFound
		},
	})
	own := []string{"GET tools", "GET mcp", "POST mcp", "POST tasks"}
	for route := range table() {
		method, path, _ := strings.Cut(route, " ")
		_, pattern := mux.Handler(httptest.NewRequestWithContext(t.Context(), method, "/control/"+path, http.NoBody))
		if (pattern == "") != slices.Contains(own, route) {
			t.Errorf("%s is answered by %q", route, pattern)
		}
	}
}

// The page is served with its folders, and is checked again each time.
func TestPage(t *testing.T) {
	p := newPage(t, nil)
	for path, want := range map[string]int{"": 200, "static/index.html": 200, "static/none.js": 404, "static/pages/none.js": 404, "static/..%2Fdoc.go": 404, "nothing": 404} {
		for _, token := range []string{ownerToken, viewerToken} {
			if w := p.do(t, 0, "GET", path, token); w.Code != want || want == 200 && w.Header().Get("ETag") == "" {
				t.Errorf("%q: got %d, want %d", path, w.Code, want)
			}
		}
		if w := p.do(t, 0, "GET", path, ""); w.Code != http.StatusUnauthorized {
			t.Errorf("%q without a token: got %d", path, w.Code)
		}
	}
}
