package botkit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Lifecycle is the newest run of a platform's Receive, and the work in the background that ends with it.
// It is safe for concurrent use.
type Lifecycle struct {
	log  *slog.Logger
	host atomic.Pointer[platform.Host] // nil before the first run
	ctx  atomic.Pointer[context.Context]
	work sync.WaitGroup
}

// NewLifecycle returns a lifecycle that has not begun.
func NewLifecycle(log *slog.Logger) *Lifecycle { return &Lifecycle{log: log} }

// Begin starts a run, which ends with ctx. The caller waits for the work at its end.
func (l *Lifecycle) Begin(ctx context.Context, host platform.Host) {
	l.ctx.Store(&ctx) // first, because Begun is about the host
	l.host.Store(&host)
}

// Begun reports whether there has been a run.
func (l *Lifecycle) Begun() bool { return l.host.Load() != nil }

// Wait waits for the work in the background.
func (l *Lifecycle) Wait() { l.work.Wait() }

// Go does in the background what messages should not wait for. What panics is given up.
func (l *Lifecycle) Go(do func(ctx context.Context)) {
	l.work.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				l.log.Error("work in the background panicked and was given up", "panic", v)
			}
		}()
		do(*l.ctx.Load())
	})
}

// Offer hands a message over to the core. It returns false if that has to be repeated.
func (l *Lifecycle) Offer(ctx context.Context, in platform.Inbound) bool {
	host := l.host.Load()
	if host == nil {
		return false
	}
	results := (*host).Accept(ctx, []platform.Inbound{in})
	return len(results) == 1 && results[0].Err == nil
}
