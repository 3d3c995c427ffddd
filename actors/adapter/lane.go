package adapter

import (
	"math/rand/v2"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Retries of a send. Network failures are waited out for long, since the whole
// platform is gone then; a service that answers with failures is not.
const (
	firstRetry   = 500 * time.Millisecond
	longestRetry = 10 * time.Second
	maxTries     = 8
	maxOutage    = 24 * time.Hour
)

// lane is what one chat is owed, in order.
type lane struct {
	key    messages.ChatKey
	target platform.Target
	queue  []*job
	draft  *draft
	busy   bool      // a call of this chat is under way
	after  time.Time // not before
	chat   window
	group  window
}

// job is one outbox row on its way.
type job struct {
	row     messages.Deliver
	parts   []platform.Part // nil until planned
	sent    []string
	tries   int
	failing time.Time // since when; zero: not
}

// draft is a text under way that people can see.
type draft struct {
	row  messages.RowID
	id   string // of the message; empty: not sent yet
	text string
	last string // as shown
	next time.Time
}

// has reports whether a row is in the lane already.
func (l *lane) has(row messages.RowID) bool {
	for _, j := range l.queue {
		if j.row.Row == row {
			return true
		}
	}
	return false
}

// retry decides what becomes of a failed send: the wait before the next try, or
// that there is none.
func (j *job) retry(e *platform.Error, now time.Time, jitter func(time.Duration) time.Duration) (time.Duration, bool) {
	if !e.Retryable {
		return 0, false
	}
	if j.failing.IsZero() {
		j.failing = now
	}
	j.tries++
	switch {
	case e.Reason == platform.SendRate:
		j.tries = 0 // the service told when; that is no failure of the row
	case e.Reason == platform.SendNetwork:
		if now.Sub(j.failing) > maxOutage {
			return 0, false
		}
	case j.tries >= maxTries:
		return 0, false
	}
	wait := min(longestRetry, firstRetry<<min(j.tries, 5))
	return max(e.RetryAfter, jitter(wait)), true
}

// fullJitter is a random part of d, at least a tenth of it.
func fullJitter(d time.Duration) time.Duration {
	return d/10 + rand.N(d-d/10) // jitter needs no secrecy
}
