package provider

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	// skipFirst is how long a model is skipped after its first failure; the time doubles with every
	// further one, up to skipMost.
	skipFirst = 10 * time.Second
	skipMost  = 10 * time.Minute
)

// breaker makes calls skip an endpoint for a while after a failure. Then one call probes it; the
// others continue to skip it until the probe has received something. It is safe for concurrent use.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	until    time.Time
	reason   model.Reason
	probing  bool // a call is probing it
}

// admit reports whether a call may use the endpoint, and whether that call is the probe.
func (b *breaker) admit() (ok, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return true, false
	case b.probing || time.Now().Before(b.until):
		return false, false
	}
	b.probing = true
	return true, true
}

// heard records that the endpoint has begun to answer. The number of failures, which determines how
// long it is skipped next, is reset only by a complete answer.
func (b *breaker) heard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until, b.probing = time.Time{}, false
}

// ended records the result of a call; probe is the result of admit.
func (b *breaker) ended(err error, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch failed, ok := errors.AsType[*model.Error](err); {
	case err == nil:
		b.failures, b.until, b.reason = 0, time.Time{}, ""
	case ok && countsAgainst(failed.Reason) && time.Now().After(b.until): // concurrent calls count once
		b.failures++
		b.reason = failed.Reason
		b.until = time.Now().Add(max(apicall.Doubled(skipFirst, skipMost, b.failures), min(failed.RetryAfter, skipMost)))
	}
}

// left returns for how long the endpoint is skipped, or 0 if it is not. An endpoint that is due for
// a probe counts as not skipped.
func (b *breaker) left() (time.Duration, model.Reason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return 0, ""
	}
	return max(0, time.Until(b.until)), b.reason
}

// open reports whether the endpoint failed and has not answered since.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.until.IsZero()
}

// countsAgainst reports whether a failure is the endpoint's and not the request's.
func countsAgainst(r model.Reason) bool {
	if _, spent := r.Budget(); spent {
		return false
	}
	switch r {
	case model.ReasonTooLong, model.ReasonBadRequest, model.ReasonFiltered, model.ReasonInternal:
		return false
	case model.ReasonAuth, model.ReasonQuota, model.ReasonNotFound, model.ReasonAddress, model.ReasonRate, model.ReasonOverloaded,
		model.ReasonNetwork, model.ReasonCut, model.ReasonIdle:
	}
	return true
}

// Health is the recent state of one of the models.
type Health struct {
	Model   string
	Skipped time.Duration // how long calls will skip it, if at all
	Reason  model.Reason  // of the last failure, unless it has answered since
	NoTools bool          // requests to it contain no tools
	// Efforts are words for how much to think that the service refused.
	Efforts string
}

// Health returns the state of the models, in order. If all have failed, the one that is due first
// is used nevertheless, and counts as not skipped.
func (m *Model) Health() []Health {
	out := healthOf(m.endpoints)
	if first := slices.MinFunc(out, func(a, b Health) int { return cmp.Compare(a.Skipped, b.Skipped) }); first.Skipped > 0 {
		out[slices.Index(out, first)].Skipped = 0
	}
	return out
}

func healthOf(endpoints []*endpoint) []Health {
	out := make([]Health, len(endpoints))
	for i, e := range endpoints {
		left, reason := e.breaker.left()
		out[i] = Health{Model: e.Model, Skipped: left, Reason: reason, NoTools: e.noTools.Load(), Efforts: strings.Join(e.efforts.list(), ", ")}
	}
	return out
}
