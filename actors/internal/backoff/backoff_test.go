package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
)

func TestWait(t *testing.T) {
	e := backoff.Exponential{First: time.Second, Longest: 10 * time.Second}
	for failures, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: 2 * time.Second, 3: 8 * time.Second, 4: 10 * time.Second, math.MaxInt: 10 * time.Second,
	} {
		if got := e.Wait(failures); got != want {
			t.Errorf("after %d failures the wait is %v, want %v", failures, got, want)
		}
	}
}
