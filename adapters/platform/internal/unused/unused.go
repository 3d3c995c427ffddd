// Package unused closes connections to an HTTP server that have not carried a request yet. Browsers
// and load balancers open them ahead of time, and a shutdown of net/http waits several seconds for
// them. Requests in progress are never cut off.
package unused

import (
	"net"
	"net/http"
	"sync"
)

// Conns tracks the unused connections of one server. It is safe for concurrent use.
type Conns struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// Of tracks a server that does not serve yet.
func Of(srv *http.Server) *Conns {
	c := &Conns{open: map[net.Conn]bool{}}
	srv.ConnState = c.note
	return c
}

func (c *Conns) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(c.open, conn)
	case c.closed:
		_ = conn.Close() // it arrived before the listener was closed
	default:
		c.open[conn] = true
	}
}

// Close closes all unused connections, including those that are opened later.
func (c *Conns) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
}
