// Package retry is how platforms wait before they try again.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// FirstPause and MaxPause bound the pauses of [Pause].
const (
	FirstPause = 100 * time.Millisecond
	MaxPause   = 5 * time.Second
)

// Wait waits for d, or less when ctx ends.
func Wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Pause is how long to wait after so many tries that failed: it doubles up to five
// seconds, with a random part, so that many who fail at once do not come back at once.
func Pause(tries int) time.Duration {
	d := min(MaxPause, FirstPause<<min(tries, 10))
	return d/2 + rand.N(d/2+1)
}
