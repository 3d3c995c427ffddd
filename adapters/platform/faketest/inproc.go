package faketest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
)

// Unconnected is a service that is called without a socket.
type Unconnected interface {
	http.Handler
	// Gone reports whether nothing connects to it.
	Gone() bool
}

// inProcess is a transport that calls a service.
type inProcess struct{ a Unconnected }

// ClientOf calls a service without a socket, so that it works where time is simulated.
func ClientOf(a Unconnected) *http.Client { return &http.Client{Transport: inProcess{a}} }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.a.Gone() {
		return nil, errors.Join(errors.New("dial"), syscall.ECONNREFUSED)
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		if trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{})
		}
		if trace.WroteRequest != nil {
			trace.WroteRequest(httptrace.WroteRequestInfo{})
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	req := r.Clone(ctx)
	req.Body = io.NopCloser(bytes.NewReader(body))
	w := &answer{header: http.Header{}, done: make(chan struct{}), code: http.StatusOK}
	go func() {
		defer cancel()
		t.a.ServeHTTP(w, req)
		close(w.done)
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-w.done:
	}
	if w.broken {
		return nil, syscall.ECONNRESET
	}
	return &http.Response{
		StatusCode: w.code, Status: http.StatusText(w.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(strings.NewReader(w.body.String())), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// answer is a response in the making.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
	broken bool
	done   chan struct{}
}

func (w *answer) Header() http.Header { return w.header }

func (w *answer) WriteHeader(code int) { w.code = code }

func (w *answer) Write(p []byte) (int, error) { return w.body.Write(p) }

// abort breaks the connection.
func (w *answer) abort() { w.broken = true }
