package provider

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	// baseWait bounds the first wait; it doubles with every further failure.
	baseWait = 500 * time.Millisecond
	// waitBudget bounds the sum of the waits of a call.
	waitBudget = 60 * time.Second
	// timeBudget is how long after the first attempt another one may begin.
	timeBudget = 5 * time.Minute
)

// retrier decides whether and when a call retries. It is used by one call to one model.
type retrier struct {
	attempts int // made so far
	max      int
	hasNext  bool
	maxWait  time.Duration
	budget   time.Duration // left for waits
	until    time.Time     // no attempt begins later than this
}

// unreachedAttempts is how often a model that cannot be reached is tried if another can be tried after it.
const unreachedAttempts = 2

// newRetrier starts the budgets of a call. hasNext says that another model can be tried after this one.
func newRetrier(o *Options, hasNext bool) *retrier {
	return &retrier{hasNext: hasNext, max: o.MaxAttempts, maxWait: o.MaxWait, budget: waitBudget, until: time.Now().Add(timeBudget)}
}

// next returns the delay before the next attempt; ok is false if there is none. If the provider
// names no delay, it is chosen uniformly from a range that doubles. A delay that the provider asks
// for is never shortened, and a random part is added, so that clients with the same delay do not
// retry together.
func (r *retrier) next(err *model.Error) (wait time.Duration, ok bool) {
	r.attempts++
	if r.hasNext && err.Reason == model.ReasonNetwork && r.attempts >= unreachedAttempts {
		return 0, false
	}
	if r.attempts >= r.max || !err.Retryable || errors.Is(err, errNoBeginning) || err.RetryAfter > r.maxWait {
		return 0, false
	}
	if err.RetryAfter > 0 {
		wait = min(r.maxWait, err.RetryAfter+rand.N(err.RetryAfter/10+time.Millisecond))
	} else {
		wait = rand.N(apicall.Doubled(baseWait, r.maxWait, r.attempts)) + time.Millisecond
	}
	if wait > r.budget || time.Now().Add(wait).After(r.until) {
		return 0, false
	}
	r.budget -= wait
	return wait, true
}
