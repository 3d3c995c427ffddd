package faketest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Pipe is a listener without a socket, and the client that reaches it, for
// servers where time is simulated.
type Pipe struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	away  atomic.Bool
}

// NewPipe makes a pipe that is closed with the test.
func NewPipe(tb testing.TB) *Pipe {
	tb.Helper()
	p := &Pipe{conns: make(chan net.Conn), done: make(chan struct{})}
	tb.Cleanup(func() { _ = p.Close() }) // it cannot fail
	return p
}

// Serve makes a pipe with a server behind it, which ends with the test.
func Serve(tb testing.TB, h http.Handler) *Pipe {
	tb.Helper()
	p := NewPipe(tb)
	server := &http.Server{Handler: h} //nolint:gosec // nobody reaches it
	var work sync.WaitGroup
	work.Go(func() { _ = server.Serve(p) })
	tb.Cleanup(func() {
		_ = server.Close() // it cannot fail
		work.Wait()
	})
	return p
}

// Away makes the pipe refuse to connect, or connect again.
func (p *Pipe) Away(on bool) { p.away.Store(on) }

// Accept implements [net.Listener].
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr implements [net.Listener].
func (*Pipe) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// Client reaches the pipe whatever the address; each request has a connection of its own.
func (p *Pipe) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: p.Dial}}
}

// Dial connects to the pipe whatever the address.
func (p *Pipe) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if p.away.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
