package faketest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Line is how a [Proxy] treats what goes through it.
type Line string

// The states of a line.
const (
	// Passing hands everything on.
	Passing Line = "passing"
	// Breaking resets all connections, existing and new ones.
	Breaking Line = "breaking"
	// Silent swallows everything: connections stay open and nothing comes. Those
	// that were open or opened then stay dead for ever, as half-open ones do.
	Silent Line = "silent"
)

// Proxy is a network that fails on purpose, between a client and a server, over
// real sockets. It is safe for concurrent use and closed with the test.
type Proxy struct {
	target string
	l      net.Listener
	mu     sync.Mutex
	line   Line
	open   map[*wire]bool
	closed bool
	wg     sync.WaitGroup
}

// wire is one connection through a proxy.
type wire struct {
	near, far net.Conn // far is nil for one that is dead from the start
	dead      bool
}

// NewProxy starts a proxy for a server, host:port.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(tb, err)
	p := &Proxy{target: target, l: l, line: Passing, open: map[*wire]bool{}}
	p.wg.Go(p.accept)
	tb.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// Address is host:port of the near end.
func (p *Proxy) Address() string { return p.l.Addr().String() }

// Set changes how the line behaves.
func (p *Proxy) Set(line Line) {
	p.mu.Lock()
	p.line = line
	for w := range p.open {
		w.dead = w.dead || line == Silent
	}
	p.mu.Unlock()
	if line == Breaking {
		p.Cut()
	}
}

// Cut resets every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.open {
		w.cut()
	}
}

func (w *wire) cut() {
	for _, c := range []net.Conn{w.near, w.far} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
		}
	}
}

func (p *Proxy) accept() {
	for {
		near, err := p.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		p.wg.Go(func() { p.serve(near) })
	}
}

func (p *Proxy) serve(near net.Conn) {
	w := &wire{near: near}
	p.mu.Lock()
	line := p.line
	p.mu.Unlock()
	if line == Passing {
		far, err := net.Dial("tcp", p.target) //nolint:noctx // a loopback server of the test
		if err != nil {
			line = Breaking
		} else {
			w.far = far
		}
	}
	p.mu.Lock()
	if line == Breaking || p.closed {
		p.mu.Unlock()
		w.cut()
		return
	}
	w.dead = line == Silent || p.line == Silent
	p.open[w] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(w, w.far, near) })
	if w.far != nil {
		both.Go(func() { p.copy(w, near, w.far) })
	}
	both.Wait()
	p.mu.Lock()
	delete(p.open, w)
	p.mu.Unlock()
	w.cut()
}

// copy forwards bytes from one end to the other until the wire is closed.
func (p *Proxy) copy(w *wire, to io.Writer, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		dead := w.dead
		p.mu.Unlock()
		if n > 0 && !dead {
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			if !dead {
				p.mu.Lock()
				w.cut()
				p.mu.Unlock()
			}
			return
		}
	}
}
