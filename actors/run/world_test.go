package run_test

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// No test leaks a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	alice messages.ChatKey = "telegram-chat-1"
	bob   messages.ChatKey = "telegram-chat-2"
	key                    = "sk-canary-0123456789"
)

// service is a real HTTP server and a real client of it, in a bubble: a pipe replaces the socket
// between them.
type service struct {
	handle func(w http.ResponseWriter, r *http.Request, n int)
	pipe   *faketest.Pipe

	mu    sync.Mutex
	asked []time.Time
}

// newProvider starts a server; n counts the requests from 1.
func newProvider(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, n int)) *service {
	t.Helper()
	p := &service{handle: handle, pipe: faketest.NewPipe(t)}
	server := &http.Server{Handler: p, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), ReadHeaderTimeout: time.Hour}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(p.pipe) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return p
}

// model is the real model, with this service at the other end.
func (p *service) model(t *testing.T, o provider.Options) *provider.Model {
	t.Helper()
	transport := &http.Transport{DialContext: p.pipe.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	o.BaseURL, o.Model, o.APIKey = "http://provider.test/v1", "m", key
	o.Transport = transport
	m, err := provider.New(o)
	stdtest.Must(t, err)
	return m
}

func (p *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, time.Now())
	n := len(p.asked)
	p.mu.Unlock()
	p.handle(w, r, n)
}

// times returns when requests arrived.
func (p *service) times() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// sse starts an answer and sends a part of it.
func sse(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(body)) // the client may be gone
	_ = http.NewResponseController(w).Flush()
}

// newWorld is a tree of actors on a store in memory.
func newWorld(t *testing.T, o actortest.Options) *actortest.World {
	t.Helper()
	if o.Store == nil {
		o.Store = filestoretest.New(t)
	}
	return actortest.New(t, o)
}

// answers are the texts and results of the assistant's messages in a history.
func answers(list []uimessage.Message) []string {
	var out []string
	for _, m := range list {
		if m.Role == uimessage.RoleAssistant {
			turn := journal.NewTurn(m)
			out = append(out, journal.Text(m)+" = "+turn.Meta.Result+" "+turn.Meta.Reason)
		}
	}
	return out
}

// outcomes are the states of the calls in a history.
func outcomes(list []uimessage.Message) []string {
	var out []string
	for _, m := range list {
		for _, p := range m.Parts {
			if t, ok := p.(uimessage.Tool); ok {
				out = append(out, t.Name+" "+string(t.State)+" "+t.ErrorText.Or(string(t.Output)))
			}
		}
	}
	return out
}
