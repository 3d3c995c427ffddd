package mcp

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// proxyTo forwards requests to a Unix socket.
func proxyTo(socket string) http.Handler {
	p := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "localhost:3001"})
	p.FlushInterval = -1
	p.ErrorLog = log.New(io.Discard, "", 0) // until the server listens, every try fails
	p.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	return p
}

// addressed is an HTTP MCP server, built with the SDK.
type addressed struct {
	mu      sync.Mutex
	headers []http.Header
	broken  atomic.Bool
	url     string
	// forgotten is the answer to requests of a session in old, with the status 404.
	forgotten string
	old       map[string]bool
	// slow gets one for each slow call, which ends with end.
	slow, end chan struct{}
}

// forget forgets all sessions so far.
func (a *addressed) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.old = map[string]bool{}
	for _, h := range a.headers {
		a.old[h.Get("Mcp-Session-Id")] = true
	}
	delete(a.old, "")
}

func newAddressed(t *testing.T) *addressed {
	t.Helper()
	a := &addressed{slow: make(chan struct{}, 8), end: make(chan struct{})}
	server := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "greets"}, func(_ context.Context, _ *sdk.CallToolRequest, in struct {
		Name string `json:"name"`
	},
	) (*sdk.CallToolResult, any, error) {
		if in.Name == "slow" {
			a.slow <- struct{}{}
			<-a.end
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + in.Name}}}, nil, nil
	})
	next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.headers = append(a.headers, r.Header.Clone())
		forgotten := a.old[r.Header.Get("Mcp-Session-Id")]
		a.mu.Unlock()
		if forgotten {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, a.forgotten)
			return
		}
		if a.broken.Load() {
			http.Error(w, "broken, and topsecret-token leaks", http.StatusBadGateway)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		for session := range server.Sessions() {
			_ = session.Close() // over already
		}
	})
	a.url = h.URL
	return a
}

func TestAddress(t *testing.T) {
	a := newAddressed(t)
	w := newWorld(t, func(o *Options) { o.Limits.Patience = 20 * time.Millisecond })
	s := Server{
		Name: "s", URL: a.url + "/mcp?key=topsecret-token", Shown: "http", Timeout: time.Minute,
		Headers: http.Header{"X-Token": {"topsecret-token"}}, Hidden: []string{"topsecret-token"},
	}
	w.apply(s)
	w.up("s")
	if got := w.mustCall("s:greet", `{"name":"Ann"}`); got != `"hello Ann"` {
		t.Errorf("greet = %s", got)
	}
	a.mu.Lock()
	for _, h := range a.headers {
		if h.Get("X-Token") != "topsecret-token" {
			t.Errorf("a request came without its header: %v", h)
		}
	}
	a.mu.Unlock()
	a.broken.Store(true)
	_, err := w.call("s:greet", `{"name":"Bob"}`)
	if err == nil || strings.Contains(err.Error(), "topsecret") {
		t.Errorf("a broken server: %v", err)
	}
	if _, err := w.m.Test(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	for _, st := range w.m.Status() {
		if strings.Contains(st.Reason, "topsecret") {
			t.Errorf("the reason holds a secret: %s", st.Reason)
		}
	}
	a.broken.Store(false)
	w.until("it to be back", func() bool {
		got, err := w.call("s:greet", `{"name":"Cleo"}`)
		return err == nil && got == `"hello Cleo"`
	})
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	h := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer h.Close()
	w := newWorld(t, nil)
	w.apply(Server{Name: "s", URL: h.URL, Headers: http.Header{"Authorization": {"Bearer x"}}})
	w.until("it to fail", func() bool { return w.status("s").Condition == ConditionDown })
	if n := stolen.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestRefusedTokens(t *testing.T) {
	const token, other = `give it a token in "headers"`, "does not speak streamable HTTP at this address"
	for status, want := range map[int]string{http.StatusUnauthorized: token, http.StatusForbidden: token, http.StatusNotFound: other, http.StatusMethodNotAllowed: other} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer h.Close()
		w := newWorld(t, nil)
		w.apply(Server{Name: "s", URL: h.URL})
		var last ServerStatus // read once, because the next attempt has no reason yet
		w.until("it to fail", func() bool { last = w.status("s"); return last.Condition == ConditionDown })
		if !strings.Contains(last.Reason, want) {
			t.Errorf("%d: %s", status, last.Reason)
		}
	}
}

func TestEndlessAnswers(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := []byte(strings.Repeat(" ", 32<<10))
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer h.Close()
	w := newWorld(t, func(o *Options) { o.Limits.Message = 1 << 20 })
	w.apply(Server{Name: "s", URL: h.URL})
	w.until("it to fail", func() bool { return w.status("s").Condition == ConditionDown })
}

// A server that was started anew has forgotten the session, and says so in different ways. It took nothing of the call,
// which is repeated in a new session.
func TestForgottenSessions(t *testing.T) {
	for name, body := range map[string]string{
		"no words":               "",
		"words":                  "404 page not found",
		"an error without an id": `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`,
		"an error with an id":    `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := newAddressed(t)
			a.forgotten = body
			w := newWorld(t, nil)
			w.apply(Server{Name: "s", URL: a.url, Timeout: time.Minute})
			w.up("s")
			a.forget()
			if got := w.mustCall("s:greet", `{"name":"Ann"}`); got != `"hello Ann"` {
				t.Errorf("greet = %s", got)
			}
		})
	}
}

// A call in progress when another one learns that the session is forgotten may have had an effect: it is not repeated.
func TestCallsOfForgottenSessions(t *testing.T) {
	a := newAddressed(t)
	defer close(a.end)
	w := newWorld(t, nil)
	w.apply(Server{Name: "s", URL: a.url, Timeout: time.Minute})
	w.up("s")
	failed := make(chan error, 1)
	go func() {
		_, err := w.call("s:greet", `{"name":"slow"}`)
		failed <- err
	}()
	<-a.slow
	a.forget()
	if got := w.mustCall("s:greet", `{"name":"Ann"}`); got != `"hello Ann"` {
		t.Errorf("greet = %s", got)
	}
	if err := <-failed; !errors.Is(err, ErrInterrupted) {
		t.Errorf("the call in progress: %v", err)
	}
	if len(a.slow) > 0 {
		t.Error("the call in progress was repeated")
	}
}
