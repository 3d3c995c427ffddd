package httpcall

import (
	"context"
	"io"
	"net/http"
	"time"
)

type aliveKey struct{}

// alive cancels a call that is silent for too long. A long answer may take its time.
type alive struct {
	timer *time.Timer
	pause time.Duration
}

// WhileAlive returns a context that ends when a call has not begun to answer within first, or when
// its answer pauses for longer than pause.
func WhileAlive(ctx context.Context, first, pause time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &alive{pause: pause, timer: time.AfterFunc(first, func() { cancel(context.DeadlineExceeded) })}
	return context.WithValue(ctx, aliveKey{}, a), func() {
		a.timer.Stop()
		cancel(nil)
	}
}

// watched reports reads of an answer to the alive of the context, if it has one.
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

// Open sends a request and returns the response. Reading its body fails after a silence longer than
// pause. Errors are [*Error] and contain neither URL nor secret.
func Open(ctx context.Context, client *http.Client, req *http.Request, call, secret string, pause time.Duration) (*http.Response, error) {
	ctx, cancel := WhileAlive(ctx, pause, pause)
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, &Error{Call: call, Err: Bare(err, secret)}
	}
	resp.Body = cancelling{watched(ctx, resp.Body), resp.Body, cancel}
	return resp, nil
}

// cancelling is a body that cancels its request when it is closed.
type cancelling struct {
	io.Reader

	body   io.Closer
	cancel context.CancelFunc
}

func (c cancelling) Close() error {
	defer c.cancel()
	return c.body.Close()
}
