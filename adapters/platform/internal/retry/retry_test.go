package retry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		Wait(t.Context(), time.Minute)
		if got := time.Since(began); got != time.Minute {
			t.Errorf("waited %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		Wait(ctx, time.Hour)
		if got := time.Since(began); got != time.Minute+time.Second {
			t.Errorf("waited %v in all, with a context that ends after a second", got)
		}
	})
}

func TestPause(t *testing.T) {
	for tries, whole := range map[int]time.Duration{0: FirstPause, 1: 2 * FirstPause, 3: 8 * FirstPause, 6: MaxPause, 1000: MaxPause} {
		for range 100 {
			if got := Pause(tries); got < whole/2 || got > whole {
				t.Errorf("after %d tries: %v, not between %v and %v", tries, got, whole/2, whole)
			}
		}
	}
}
