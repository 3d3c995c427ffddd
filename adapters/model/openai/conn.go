package openai

import (
	"context"
	"io"
	"net"
	"sync"
)

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
