package provider

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	endTime   = 100 * time.Millisecond // how long a call waits for the end of its response body
	drainTime = 2 * time.Second        // how long the connection is kept for it after that
	maxDrain  = 4 << 10                // maximum number of bytes read from it
)

// watchdog ends a request whose answer does not begin in time, or falls silent.
type watchdog struct {
	idle   time.Duration // 0 means that bytes no longer count
	began  *atomic.Bool  // the answer has begun; bytes do not count before that
	timer  *time.Timer
	cancel context.CancelCauseFunc
	detach func() bool
}

// errNoBeginning is wrapped by the error of an answer that did not begin in time.
var errNoBeginning = errors.New("the answer did not begin in time")

// newWatchdog returns a context that ends with the caller's, or if the answer does not begin within
// first, or later no byte arrives for idle. Call stop or drain at the end.
func newWatchdog(caller context.Context, first, idle time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(caller))
	w := &watchdog{idle: idle, cancel: cancel, began: new(atomic.Bool)}
	w.detach = context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	if caller.Err() != nil {
		cancel(context.Cause(caller)) // immediately
	}
	w.timer = time.AfterFunc(first, func() {
		silent := &model.Error{Reason: model.ReasonIdle, Retryable: true, Message: "the answer fell silent"}
		if !w.began.Load() {
			silent.Message, silent.Err = "the model said nothing for "+first.String(), errNoBeginning
		}
		cancel(silent)
	})
	return ctx, w
}

// heard records that the answer has begun: from now on every byte counts.
func (w *watchdog) heard() {
	w.began.Store(true)
	w.timer.Reset(w.idle)
}

// shorten reduces the idle timeout from now on.
func (w *watchdog) shorten(idle time.Duration) {
	if idle < w.idle {
		w.idle = idle
		w.heard()
	}
}

func (w *watchdog) saw(n int) {
	if n > 0 && w.idle > 0 && w.began.Load() {
		w.timer.Reset(w.idle)
	}
}

// drain reads a complete answer to the end of its body, which has almost always arrived already: a
// service that counts active requests should not see the chat's next request before this one has
// ended. If a busy server ends it late, the caller does not wait, but the connection is kept a
// little longer, because replacing it is costly. It also stops the watchdog.
func (w *watchdog) drain(rest io.ReadCloser) {
	w.detach()
	w.idle = 0
	w.timer.Reset(drainTime)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer w.stop()
		_, _ = io.Copy(io.Discard, io.LimitReader(rest, maxDrain)) // an error only costs the connection
		_ = rest.Close()
	}()
	select {
	case <-ended:
	case <-time.After(endTime):
	}
}

func (w *watchdog) stop() {
	w.detach()
	w.timer.Stop()
	w.cancel(nil)
}

// watchedBody reports every byte to the watchdog.
type watchedBody struct {
	io.ReadCloser
	watch *watchdog
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.saw(n)
	return n, err
}
