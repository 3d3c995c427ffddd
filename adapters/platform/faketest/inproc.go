package faketest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"syscall"
)

// Unconnected is a service that is called without a socket.
type Unconnected interface {
	http.Handler
	// Gone reports whether the service is unreachable.
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
	w := &answer{ResponseRecorder: httptest.NewRecorder()}
	done := make(chan struct{})
	go func() {
		defer cancel()
		t.a.ServeHTTP(w, req)
		close(done)
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-done:
	}
	if w.broken {
		return nil, syscall.ECONNRESET
	}
	res := w.Result()
	res.Request, res.ContentLength = r, int64(w.Body.Len())
	return res, nil
}

type answer struct {
	*httptest.ResponseRecorder
	broken bool
}
