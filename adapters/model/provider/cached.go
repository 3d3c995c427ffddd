package provider

import (
	"context"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	// cacheable is how many bytes two requests have to share before a service can be expected to have
	// cached them: services begin at 1,024 to 4,096 tokens.
	cacheable = 32 << 10
	// coldCalls is after how many requests in a row that should have been read from the cache, but were
	// not, a warning is logged.
	coldCalls = 20
	// forget is by how much what was counted before weighs less with every call.
	forget = 0.95
)

// cacheUse is how much of the requests to one model its provider read from its cache. It is safe
// for concurrent use.
type cacheUse struct {
	mu            sync.Mutex
	input, cached float64 // tokens of recent calls
	cold          int     // calls in a row that should have been read from the cache and were not
	warned        bool
}

// add counts a call of which the chat had sent shared bytes before. It returns the share of the
// input of recent calls that was cached, and whether now is the time to warn. ok is false if the
// provider did not say.
func (c *cacheUse) add(u model.Usage, shared int) (ratio float64, warn, ok bool) {
	if u.InputTokens == nil || u.CachedInputTokens == nil || *u.InputTokens <= 0 {
		return 0, false, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.input = c.input*forget + float64(*u.InputTokens)
	c.cached = c.cached*forget + float64(*u.CachedInputTokens)
	switch {
	case *u.CachedInputTokens > 0:
		c.cold, c.warned = 0, false
	case shared >= cacheable:
		c.cold++
	}
	if warn = c.cold >= coldCalls && !c.warned; warn {
		c.warned = true
	}
	return c.cached / c.input, warn, true
}

// countCached records how much of a request was cached.
func (e *endpoint) countCached(ctx context.Context, u model.Usage, shared int) {
	ratio, warn, ok := e.cached.add(u, shared)
	if !ok {
		return
	}
	e.metrics.cached.WithLabelValues(e.Model).Set(ratio)
	if warn {
		e.log.WarnContext(ctx, "the provider's prompt cache is not used, although requests begin like the previous ones; every request is paid in full", "calls", coldCalls)
	}
}
