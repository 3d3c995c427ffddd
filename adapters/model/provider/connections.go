package provider

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// manyCalls is how many idle connections are kept: as many as a host has concurrent calls,
// otherwise under high load every call would open a new connection.
const manyCalls = 512

// NewTransport returns a transport for many concurrent streams. It has no timeout that could end a
// healthy one.
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

// bodyConn is a connection that takes the buffer for writing a body from a pool. Otherwise each
// request allocates its own, which is the largest allocation of a call.
type bodyConn struct {
	*net.TCPConn
	buffers *sync.Pool
}

// ReadFrom implements [io.ReaderFrom], which is used for writing bodies.
func (c bodyConn) ReadFrom(r io.Reader) (int64, error) {
	buffer, ok := c.buffers.Get().(*[copySize]byte)
	if !ok {
		buffer = new([copySize]byte)
	}
	defer c.buffers.Put(buffer)
	return io.CopyBuffer(struct{ io.Writer }{c.TCPConn}, r, buffer[:]) // only a writer; otherwise CopyBuffer would call this method again
}

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
