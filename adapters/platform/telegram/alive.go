package telegram

import (
	"context"
	"io"
	"time"
)

// aliveKey is the key of a context's *alive.
type aliveKey struct{}

// alive ends a call that is silent for too long. A long answer may take its time.
type alive struct {
	timer *time.Timer
	pause time.Duration
}

// whileAlive is a context that ends when a call has not begun to answer after
// first, or when its answer pauses for longer than pause.
func whileAlive(ctx context.Context, first, pause time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &alive{pause: pause, timer: time.AfterFunc(first, func() { cancel(context.DeadlineExceeded) })}
	return context.WithValue(ctx, aliveKey{}, a), func() {
		a.timer.Stop()
		cancel(nil)
	}
}

// watched notes what is read of an answer, if the context wants to know.
func watched(ctx context.Context, body io.Reader) io.Reader {
	if a, ok := ctx.Value(aliveKey{}).(*alive); ok {
		return &aliveReader{a, body}
	}
	return body
}

type aliveReader struct {
	*alive
	from io.Reader
}

func (r *aliveReader) Read(p []byte) (int, error) {
	r.timer.Reset(r.pause)
	return r.from.Read(p)
}
