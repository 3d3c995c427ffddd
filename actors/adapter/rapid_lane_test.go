package adapter

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// TestRetryMachine sends a row of several parts with arbitrary failures: it waits as long as the
// service asks and no longer than necessary, ends at a permanent failure, and bounds all retries
// except those that the service asks to delay.
func TestRetryMachine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j, now := &job{}, time.UnixMilli(0)
		failures, unknown, over := 0, 0, false // failures of the service since the last part or rate
		since := time.Time{}
		rt.Repeat(map[string]func(*rapid.T){
			"arrives": func(t *rapid.T) {
				if over {
					t.Skip("over")
				}
				n := len(j.sent)
				j.arrived(messages.Receipt{ID: strconv.Itoa(n)})
				failures, since = 0, time.Time{}
				if len(j.sent) != n+1 || j.tries != 0 || !j.failing.IsZero() {
					t.Fatalf("after a part: %+v", j)
				}
			},
			"fails": func(t *rapid.T) {
				if over {
					t.Skip("over")
				}
				e := &platform.Error{
					Reason: rapid.SampledFrom([]platform.SendReason{
						platform.SendRate, platform.SendNetwork, platform.SendServer, platform.SendForbidden,
					}).Draw(t, "reason"),
					RetryAfter: time.Duration(rapid.IntRange(0, 60).Draw(t, "retry after")) * time.Second,
					Unknown:    rapid.Bool().Draw(t, "unknown"), Err: errors.New("simulated"),
				}
				e.Retryable = e.Reason != platform.SendForbidden
				switch e.Reason {
				case platform.SendRate:
					failures, since = 0, time.Time{}
				case platform.SendNetwork:
					if since.IsZero() {
						since = now
					}
				default:
					failures++
				}
				if e.Unknown {
					unknown++
				}
				wait, again := j.retry(e, now, func(d time.Duration) time.Duration { return d })
				want := e.Retryable && unknown < maxUnknown &&
					(e.Reason == platform.SendRate || e.Reason == platform.SendNetwork && now.Sub(since) <= maxOutage ||
						e.Reason == platform.SendServer && failures < maxTries)
				switch {
				case again != want:
					t.Fatalf("again = %t after %d failures, %d unknown: %+v", again, failures, unknown, e)
				case again && wait < e.RetryAfter:
					t.Fatalf("waits %s, the service said %s", wait, e.RetryAfter)
				case again && wait > max(e.RetryAfter, longestRetry):
					t.Fatalf("waits %s", wait)
				}
				over = !again
				now = now.Add(wait)
			},
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 40_000).Draw(t, "seconds")) * time.Second)
			},
			"": func(*rapid.T) {},
		})
	})
}

// TestWindowMachine: a caller that observes a window's waits never does more than N in any interval
// of Per.
func TestWindowMachine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := platform.Rate{N: rapid.IntRange(1, 5).Draw(rt, "n"), Per: time.Duration(rapid.IntRange(1, 60).Draw(rt, "per")) * time.Second}
		w, now := window{rate: rate}, time.UnixMilli(0)
		var sent []time.Time
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(*rapid.T) {
				if wait := w.wait(now); wait > 0 {
					now = now.Add(wait)
				}
				w.note(now)
				sent = append(sent, now)
			},
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 30_000).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) {
				if n := len(sent); n > rate.N && sent[n-1].Sub(sent[n-1-rate.N]) < rate.Per {
					t.Fatalf("%d sends within %s", rate.N+1, sent[n-1].Sub(sent[n-1-rate.N]))
				}
			},
		})
	})
}
