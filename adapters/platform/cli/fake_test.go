package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// fakeHost serves the HTTP of the web platform under control of the test.
type fakeHost struct {
	mu      sync.Mutex
	view    string
	sent    chan sent
	stops   chan bool
	events  chan string // lines for watchers
	watches chan struct{}
	refuse  string
}

type sent struct{ Chat, ID, Text, Prefer string }

// hostSays is the host's own answer to /approvals.
const hostSays = "#1: Is this \\(a\\, b\\) right\\?\n\n**Run** it\n\n```\nls *\n```"

func newFakeHost() *fakeHost {
	return &fakeHost{
		view: `{"messages":[],"waiting":[],"running":false,"counts":{"accepted":0,"open":0,"fates":{},"outboxPending":0}}`,
		sent: make(chan sent, 10), stops: make(chan bool, 10), events: make(chan string, 100), watches: make(chan struct{}, 10),
	}
}

func (h *fakeHost) setView(v string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.view = v
}

func (h *fakeHost) currentView() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.view
}

func (h *fakeHost) Status(bool, string) {}

func (h *fakeHost) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/info", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"project":"Test","model":"demo","demo":true,"version":"v1"}`)
	})
	mux.HandleFunc("GET /api/chat/{id}/view", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "unknown" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, h.currentView())
	})
	mux.HandleFunc("POST /api/chat/{id}/stop", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ All bool }
		_ = json.NewDecoder(r.Body).Decode(&in)
		h.stops <- in.All
		_, _ = io.WriteString(w, `{"stopped":true}`)
	})
	mux.HandleFunc("POST /api/chat", h.chat)
	mux.HandleFunc("GET /api/chat/{id}/events", h.watch)
	return mux
}

func (h *fakeHost) chat(w http.ResponseWriter, r *http.Request) {
	var in chatBody
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Content-Type") != "application/json" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if h.refuse != "" {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, h.refuse)
		return
	}
	h.sent <- sent{in.ID, in.Message.ID, in.Message.Parts[0].Text, r.Header.Get("Prefer")}
	command := in.Message.Parts[0].Text == "/approvals"
	if r.Header.Get("Prefer") == "respond-async" {
		w.WriteHeader(http.StatusAccepted)
		if command {
			_, _ = fmt.Fprintf(w, `{"turnId":%q,"answer":%q}`, in.Message.ID, hostSays)
			return
		}
		_, _ = fmt.Fprintf(w, `{"turnId":%q}`, in.Message.ID)
		return
	}
	if command {
		_, _ = fmt.Fprintf(w, `data: {"type":"start","messageId":"h:m1"}

data: {"type":"text-start","id":"0"}

data: {"type":"text-delta","id":"0","delta":%q}

data: {"type":"text-end","id":"0"}

data: {"type":"finish"}

data: [DONE]

`, hostSays)
		return
	}
	_, _ = io.WriteString(w, ": waiting\n\n"+`data: {"type":"start","messageId":"a1"}

data: {"type":"text-start","id":"t"}

data: {"type":"text-delta","id":"t","delta":"Hello "}

data: {"type":"text-delta","id":"t","delta":"you"}

data: {"type":"text-end","id":"t"}

data: {"type":"finish"}

`)
	if !strings.Contains(in.Message.Parts[0].Text, "cut") {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

func (h *fakeHost) watch(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, "data: {\"kind\":\"view\",%s\n\n", strings.TrimPrefix(h.currentView(), "{"))
	_ = http.NewResponseController(w).Flush()
	h.watches <- struct{}{}
	for {
		select {
		case <-r.Context().Done():
			return
		case line := <-h.events:
			if line == "end" {
				return
			}
			_, _ = io.WriteString(w, "data: "+line+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func (h *fakeHost) serve(t *testing.T, socket string) *Client {
	t.Helper()
	if socket == "" {
		socket = filepath.Join(t.TempDir(), "control.sock")
	}
	ln, err := Listen(t.Context(), socket)
	stdtest.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{Handler: h.handler(), ReadHeaderTimeout: time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln) // ends with the test
	}()
	c := NewClient(socket)
	t.Cleanup(func() {
		c.Close()
		cancel()
		_ = srv.Close() // cut open connections
		<-done
	})
	return c
}

func want[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		t.Fatalf("never came: %s", what)
		panic("unreachable")
	}
}
