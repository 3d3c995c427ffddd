// Package apicall is what the adapters of models and of speech share for calling HTTP APIs: the
// error of a failed call, keys that are never printed, a client that does not send them elsewhere,
// and the delays before retries.
package apicall

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds the delay that a service asks for.
const MaxRetryAfter = 7 * 24 * time.Hour

// Reason classifies the failures of one contract. It is also their metric label.
type Reason interface {
	~string
	// Contract begins the text of an error, for example "model".
	Contract() string
}

// Error is a failed call.
type Error[R Reason] struct {
	Reason R
	// Retryable means that the same call may succeed later.
	Retryable  bool
	RetryAfter time.Duration // the delay that the service asked for, or 0
	Status     int           // HTTP status, or 0
	// Message is for people and logs. It contains no secret and nothing that people wrote.
	Message string
	Err     error
}

// Error implements error.
func (e *Error[R]) Error() string {
	s := e.Reason.Contract() + ": " + string(e.Reason)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap implements the errors package's protocol.
func (e *Error[R]) Unwrap() error { return e.Err }

// ReasonOf returns the reason of err, or other if it is not an [Error].
func ReasonOf[R Reason](err error, other R) R {
	if e, ok := errors.AsType[*Error[R]](err); ok {
		return e.Reason
	}
	return other
}

// Secret is a text that is never printed.
type Secret string

// String implements [fmt.Stringer].
func (Secret) String() string { return "***" }

// GoString implements [fmt.GoStringer].
func (Secret) GoString() string { return "***" }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// Client returns a client that follows no redirects, which would carry keys and people's words to
// another host.
func Client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// BadCertificate reports whether a connection failed because of its certificate, which retrying
// does not fix.
func BadCertificate(err error) bool {
	_, bad := errors.AsType[*tls.CertificateVerificationError](err)
	return bad
}

// RetryAfter returns the delay that a response asks for, or 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
		return seconds(n)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func seconds(n float64) time.Duration {
	return time.Duration(min(n, MaxRetryAfter.Seconds()) * float64(time.Second))
}

// Doubled returns base, doubled for every failure after the first, and at most limit.
func Doubled(base, limit time.Duration, failures int) time.Duration {
	const maxShift = 6
	return min(limit, base<<min(max(failures-1, 0), maxShift))
}

// Pause waits, or returns the cause of the context's end.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
