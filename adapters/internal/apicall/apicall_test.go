package apicall_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
)

type reason string

func (reason) Contract() string { return "thing" }

func TestError(t *testing.T) {
	cause := errors.New("reset")
	for want, err := range map[string]*apicall.Error[reason]{
		"thing: auth (HTTP 401): no": {Reason: "auth", Status: 401, Message: "no", Err: cause},
		"thing: network: reset":      {Reason: "network", Err: cause},
		"thing: idle":                {Reason: "idle"},
	} {
		if got := err.Error(); got != want || errors.Is(err, cause) != (err.Err != nil) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := apicall.ReasonOf(fmt.Errorf("ask: %w", err), reason("none")); got != err.Reason {
			t.Errorf("the reason is %q, want %q", got, err.Reason)
		}
	}
	if got := apicall.ReasonOf(cause, reason("none")); got != "none" {
		t.Errorf("the reason of a foreign error is %q", got)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "", 0},
		{"Retry-After", " 2 ", 2 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "-1", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "1e300", apicall.MaxRetryAfter},
		{"Retry-After", now.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		{"Retry-After", now.Add(-time.Minute).Format(http.TimeFormat), 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		if got := apicall.RetryAfter(http.Header{tt.name: {tt.value}}, now); got != tt.want {
			t.Errorf("%s %q: got %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestDoubled(t *testing.T) {
	for failures, want := range map[int]time.Duration{0: 1, 1: 1, 2: 2, 4: 8, 7: 64, 8: 64, 1000: 64} {
		if got := apicall.Doubled(time.Second, time.Hour, failures); got != want*time.Second {
			t.Errorf("%d failures: %s, want %s", failures, got, want*time.Second)
		}
	}
	if got := apicall.Doubled(time.Second, 5*time.Second, 4); got != 5*time.Second {
		t.Errorf("over the limit: %s", got)
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := apicall.Pause(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		stop := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		began = time.Now()
		if err := apicall.Pause(ctx, time.Hour); !errors.Is(err, stop) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
