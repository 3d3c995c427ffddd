package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// manyCalls is how many connections without a call are kept: as many as a host has
// calls under way, or a crowd would dial anew for each.
const manyCalls = 512

// NewTransport returns a transport for many streams at once. It has no timeout
// that could end a healthy one.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialBodies(dialer.DialContext),
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          manyCalls,
		MaxIdleConnsPerHost:   manyCalls,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// copySize is how much of a request's body is written at once.
const copySize = 32 << 10

// bodyConn is a connection that borrows the buffer of a body it writes. Without it
// each request makes one of its own, the largest thing that a call allocates.
type bodyConn struct {
	*net.TCPConn
	buffers *sync.Pool
}

// ReadFrom implements [io.ReaderFrom], by which bodies are written.
func (c bodyConn) ReadFrom(r io.Reader) (int64, error) {
	buffer, ok := c.buffers.Get().(*[copySize]byte)
	if !ok {
		buffer = new([copySize]byte)
	}
	defer c.buffers.Put(buffer)
	return io.CopyBuffer(struct{ io.Writer }{c.TCPConn}, r, buffer[:]) // nothing but a writer, or it would ask for this method again
}

// dialBodies makes the connections of a dialer such.
func dialBodies(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	var buffers sync.Pool
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			return bodyConn{tcp, &buffers}, nil
		}
		return conn, err
	}
}
