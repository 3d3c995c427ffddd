package provider

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestCrowdKeepsItsConnections ends as many concurrent calls as a host has and starts them again.
// No new connections may be opened.
func TestCrowdKeepsItsConnections(t *testing.T) {
	const crowd = 300
	var fresh atomic.Int64
	rounds := [2]sync.WaitGroup{}
	rounds[0].Add(crowd)
	rounds[1].Add(crowd)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		round := &rounds[len(r.Header.Get("Second"))]
		round.Done()
		round.Wait() // all of them are in progress
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			fresh.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	transport := NewTransport()
	defer transport.CloseIdleConnections()
	for _, headers := range []map[string]Secret{nil, {"Second": "y"}} {
		before := fresh.Load()
		m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL, Headers: headers}, Transport: transport, MaxAttempts: 1})
		var all sync.WaitGroup
		for range crowd {
			all.Go(func() {
				if _, _, err := said(context.WithoutCancel(t.Context()), m, hello()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := fresh.Load() - before; headers != nil && n > crowd/10 {
			t.Errorf("%d of %d calls dialled anew", n, crowd)
		}
	}
}

// TestSlowEndKeepsTheConnection has a busy server that ends its answer late. The caller does not
// wait for that, and the connection is reused afterwards.
func TestSlowEndKeepsTheConnection(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, textPiece+lastPiece)
		_ = http.NewResponseController(w).Flush()
		<-release
	}))
	defer server.Close()
	counted := &dialCounter{Transport: NewTransport()}
	defer counted.CloseIdleConnections()
	kept := make(chan error, 4)
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		trace := &httptrace.ClientTrace{PutIdleConn: func(err error) { kept <- err }}
		return counted.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	})
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}, Transport: transport, MaxAttempts: 1})
	for i := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		if text, finished, err := said(ctx, m, hello()); text != "a" || !finished {
			t.Fatalf("heard %q, finished %t, error %v", text, finished, err)
		}
		cancel() // the caller has left
		if i == 0 {
			close(release)
		}
		select {
		case err := <-kept:
			if err != nil {
				t.Errorf("call %d: its connection was not kept: %v", i+1, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("call %d: its connection was closed", i+1)
		}
	}
	if n := counted.fresh(); n != 1 {
		t.Errorf("%d connections for 3 calls, want 1", n)
	}
}

// TestLongBodiesArriveWhole checks that a request longer than one buffer arrives unchanged.
func TestLongBodiesArriveWhole(t *testing.T) {
	text := strings.Repeat("a long story ", 50_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), text) || int64(len(body)) != r.ContentLength {
			t.Errorf("%d bytes of %d came: %v", len(body), r.ContentLength, err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}, MaxAttempts: 1})
	req := hello()
	req.System = text
	for range 3 {
		if words, _, err := said(t.Context(), m, req); err != nil || words != "x" {
			t.Fatalf("heard %q and %v", words, err)
		}
	}
}

// BenchmarkCall measures a whole call over an existing connection, with a body as long as that of a
// chat.
func BenchmarkCall(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Repeat("data: "+modeltest.Delta(`{"content":" hello"}`, "")+"\n\n", 20)+
			`data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	m, err := New(Options{Endpoint: Endpoint{BaseURL: server.URL, Model: "m"}, MaxAttempts: 1})
	stdtest.Must(b, err)
	req := model.Request{System: strings.Repeat("You are helpful. ", 200), Memo: new(model.Memo)}
	for range 20 {
		req.Messages = append(req.Messages,
			modelmessage.Message{Role: modelmessage.RoleUser, Text: strings.Repeat("words \"quoted\"\n", 40)},
			modelmessage.Message{Role: modelmessage.RoleAssistant, Text: strings.Repeat("an answer ", 70)})
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), req) {
			stdtest.Must(b, err)
		}
	}
}
