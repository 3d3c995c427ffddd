package openai

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	// skipFirst is how long a model is skipped after its first failure; it doubles with
	// every further one, up to skipMost.
	skipFirst = 10 * time.Second
	skipMost  = 10 * time.Minute
)

// breaker remembers that an endpoint failed, so that calls skip it for a while. When
// that is over, one call tries it; the others go on skipping it until that call has
// heard something. It is safe for concurrent use.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	until    time.Time
	reason   model.Reason
	probing  bool // a call is trying it
}

// admit reports whether a call may ask the endpoint, and whether it is the one that
// tries it.
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

// heard says that the endpoint has begun to answer. How long it is skipped after its
// next failure is forgotten only when an answer was whole.
func (b *breaker) heard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until, b.probing = time.Time{}, false
}

// ended takes how a call went; probe is what admit said.
func (b *breaker) ended(err error, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch failed, ok := errors.AsType[*model.Error](err); {
	case err == nil:
		b.failures, b.until, b.reason = 0, time.Time{}, ""
	case ok && countsAgainst(failed.Reason) && time.Now().After(b.until): // calls that began together count once
		b.failures++
		b.reason = failed.Reason
		b.until = time.Now().Add(max(apicall.Doubled(skipFirst, skipMost, b.failures), min(failed.RetryAfter, skipMost)))
	}
}

// left is for how long the endpoint is skipped, 0 if it is not. One whose time is up
// and that nobody has tried yet counts as not skipped.
func (b *breaker) left() (time.Duration, model.Reason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return 0, ""
	}
	return max(0, time.Until(b.until)), b.reason
}

// open reports whether the endpoint failed and was not heard since.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.until.IsZero()
}

// countsAgainst reports whether a failure is the endpoint's and not the request's.
func countsAgainst(r model.Reason) bool {
	switch r {
	case model.ReasonTooLong, model.ReasonBadRequest, model.ReasonFiltered, model.ReasonInternal:
		return false
	case model.ReasonAuth, model.ReasonQuota, model.ReasonNotFound, model.ReasonAddress, model.ReasonRate, model.ReasonOverloaded,
		model.ReasonNetwork, model.ReasonCut, model.ReasonIdle:
	}
	return true
}

// Health is how one of the models has done of late.
type Health struct {
	Model   string
	Skipped time.Duration // for so long calls skip it; 0: they do not
	Reason  model.Reason  // of its failure, if it was not heard since
	NoTools bool          // it is asked without tools
}

// Health is how the models have done, in their order. When all have failed, the one whose
// time is up first is asked nevertheless, and counts as not skipped.
func (m *Model) Health() []Health {
	out := make([]Health, len(m.endpoints))
	for i, e := range m.endpoints {
		left, reason := e.breaker.left()
		out[i] = Health{Model: e.Model, Skipped: left, Reason: reason, NoTools: e.noTools.Load()}
	}
	if first := slices.MinFunc(out, func(a, b Health) int { return cmp.Compare(a.Skipped, b.Skipped) }); first.Skipped > 0 {
		out[slices.Index(out, first)].Skipped = 0
	}
	return out
}
