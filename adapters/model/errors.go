package model

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
)

// Reason classifies a failed call. It is also the metric label.
type Reason string

// The reasons for a failed call.
const (
	ReasonAuth       Reason = "auth"        // key refused: 401, 403
	ReasonQuota      Reason = "quota"       // account exhausted: 402, or a 429 that says so
	ReasonNotFound   Reason = "not_found"   // unknown model
	ReasonAddress    Reason = "address"     // the URL serves something else than a model's API, such as a web page
	ReasonTooLong    Reason = "too_long"    // the context does not fit
	ReasonRate       Reason = "rate"        // 429
	ReasonOverloaded Reason = "overloaded"  // 5xx, 529, overload inside the stream
	ReasonNetwork    Reason = "network"     // no connection, name not found, reset before the first byte
	ReasonCut        Reason = "cut"         // the stream ended without a finish reason or could not be decoded
	ReasonIdle       Reason = "idle"        // no answer in time, or no bytes for the idle timeout
	ReasonBadRequest Reason = "bad_request" // any other 4xx
	ReasonFiltered   Reason = "filtered"    // refused for its content
	ReasonInternal   Reason = "internal"    // a bug of ours
)

// budgetPrefix begins the reason of a call that was refused because a spending limit is reached.
const budgetPrefix = "budget."

// budgetAsked ends the reason if the owner was asked.
const budgetAsked = ".asked"

// ReasonBudget is the reason of a call that the spending limit of this name refused. It was not made. asked is set if
// the owner was asked to allow more.
func ReasonBudget(limit string, asked bool) Reason {
	if asked {
		limit += budgetAsked
	}
	return Reason(budgetPrefix + limit)
}

// Budget returns the spending limit that refused a call, if that is the reason.
func (r Reason) Budget() (limit string, ok bool) {
	limit, ok = strings.CutPrefix(string(r), budgetPrefix)
	return strings.TrimSuffix(limit, budgetAsked), ok
}

// OwnerAsked reports whether the owner was asked to allow more than the spending limit that refused a call.
func (r Reason) OwnerAsked() bool { return strings.HasSuffix(string(r), budgetAsked) }

// Contract begins the text of an [Error].
func (Reason) Contract() string { return "model" }

// Error is a failed model call. Its message is the provider's text with secrets masked.
type Error = apicall.Error[Reason]

// ReasonOf returns the reason of err, or [ReasonInternal] if it is not an [*Error].
func ReasonOf(err error) Reason { return apicall.ReasonOf(err, ReasonInternal) }
