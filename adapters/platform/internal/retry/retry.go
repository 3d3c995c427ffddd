// Package retry provides the pauses that platforms make between retries.
package retry

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
)

// FirstPause and MaxPause bound the pauses of [Pause].
const (
	FirstPause = 100 * time.Millisecond
	MaxPause   = 5 * time.Second
)

// Wait waits for d, or less when ctx ends.
func Wait(ctx context.Context, d time.Duration) {
	_ = apicall.Pause(ctx, d) // the caller looks at ctx
}

// Pause returns the delay after a number of failed tries: it doubles up to five seconds and has a
// random part, so that many clients do not retry at the same moment.
func Pause(tries int) time.Duration {
	d := min(MaxPause, FirstPause<<min(tries, 10))
	return d/2 + rand.N(d/2+1)
}
