// Package unused closes the connections of an HTTP server on which nobody has asked
// for anything yet, as browsers and balancers make them ahead of time: a shutdown of
// net/http waits for those for seconds. Requests are never cut by it.
package unused

import (
	"net"
	"net/http"
	"sync"
)

// Conns are the connections of one server that are not used yet. It is safe for
// concurrent use.
type Conns struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// Of watches a server that does not serve yet.
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
		_ = conn.Close() // it came before the listener was closed
	default:
		c.open[conn] = true
	}
}

// Close closes them, and those that are still to come.
func (c *Conns) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
}
