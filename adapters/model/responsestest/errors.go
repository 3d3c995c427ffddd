package responsestest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// classify is how the service reports failures: by a status, a type and a code.
func classify(r model.Reason) (status int, kind, code string) {
	status, kind, code = http.StatusServiceUnavailable, "server_error", "server_error"
	row := map[model.Reason]string{
		model.ReasonAuth:       "401 invalid_request_error invalid_api_key",
		model.ReasonNotFound:   "404 invalid_request_error model_not_found",
		model.ReasonAddress:    "404 invalid_request_error unknown_url",
		model.ReasonQuota:      "429 insufficient_quota insufficient_quota",
		model.ReasonRate:       "429 requests rate_limit_exceeded",
		model.ReasonTooLong:    "400 invalid_request_error context_length_exceeded",
		model.ReasonFiltered:   "400 invalid_request_error invalid_prompt",
		model.ReasonBadRequest: "400 invalid_request_error invalid_value",
	}[r]
	_, _ = fmt.Sscan(row, &status, &kind, &code) // an empty row leaves them
	return status, kind, code
}

// errorOf returns err as an error of a model.
func errorOf(err error) *model.Error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	return &model.Error{Reason: model.ReasonInternal, Message: err.Error()}
}

// refuse answers with an error of the model.
func refuse(w http.ResponseWriter, e *model.Error) {
	status, kind, code := classify(e.Reason)
	if e.Status != 0 {
		status = e.Status
	}
	limits(w.Header(), e.Reason == model.ReasonRate, e.RetryAfter)
	writeError(w, status, object{"message": e.Message, "type": kind, "param": nil, "code": code})
}

// limits sets the headers that say what may still be asked, and when.
func limits(h http.Header, reached bool, retry time.Duration) {
	remaining := "999"
	if reached {
		remaining = "0"
	}
	for _, what := range []string{"Requests", "Tokens"} {
		h.Set("X-Ratelimit-Limit-"+what, "1000")
		h.Set("X-Ratelimit-Remaining-"+what, remaining)
		h.Set("X-Ratelimit-Reset-"+what, retry.String())
	}
	if retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(retry.Seconds()))))
	}
}

func writeError(w http.ResponseWriter, status int, e object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"error": e}) // the client may be gone
}
