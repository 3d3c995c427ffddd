package model

import (
	"errors"
	"fmt"
	"time"
)

// Reason classifies a failed call. It is also the metric label.
type Reason string

// The reasons a call fails for.
const (
	ReasonAuth       Reason = "auth"        // key refused: 401, 403
	ReasonQuota      Reason = "quota"       // nothing left to pay with: 402, or a 429 that says so
	ReasonNotFound   Reason = "not_found"   // unknown model
	ReasonAddress    Reason = "address"     // what answers there is no model's API, such as a web page
	ReasonTooLong    Reason = "too_long"    // the context does not fit
	ReasonRate       Reason = "rate"        // 429
	ReasonOverloaded Reason = "overloaded"  // 5xx, 529, overload inside the stream
	ReasonNetwork    Reason = "network"     // no connection, name not found, reset before the first byte
	ReasonCut        Reason = "cut"         // the stream ended without a finish reason or could not be read
	ReasonIdle       Reason = "idle"        // no word of an answer in time, or no bytes for the idle deadline
	ReasonBadRequest Reason = "bad_request" // any other 4xx
	ReasonFiltered   Reason = "filtered"    // refused for its content
	ReasonInternal   Reason = "internal"    // a fault of ours
)

// Error is a failed model call.
type Error struct {
	Reason Reason
	// Retryable says that the same request may succeed later.
	Retryable bool
	// RetryAfter is the wait the provider asked for; 0 when it did not.
	RetryAfter time.Duration
	Status     int    // HTTP status, 0 without one
	Message    string // the provider's words, secrets masked
	Err        error
}

func (e *Error) Error() string {
	s := "model: " + string(e.Reason)
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

func (e *Error) Unwrap() error { return e.Err }

// ReasonOf is the reason of err, [ReasonInternal] when it is no [*Error].
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ReasonInternal
}
