package provider

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
)

// apiError is an error object in the variants of several providers.
type apiError struct {
	Message string
	Type    string
	Code    string
	Status  int
}

// parseError decodes the body of a failed response, or an error object of a stream.
func parseError(body []byte) apiError {
	if !lenient.Valid(body) {
		return apiError{}
	}
	return errorOf(gjson.ParseBytes(body))
}

// errorOf decodes an error: an object, possibly nested in its own field error, a list that contains
// the object, or a sentence.
func errorOf(r gjson.Result) apiError {
	switch {
	case r.IsArray():
		return errorOf(r.Get("0"))
	case !r.IsObject():
		return apiError{Message: lenient.String(r)}
	}
	message := r.Get("message")
	if !lenient.Present(message) {
		message = r.Get("detail")
	}
	if inner := r.Get("error"); lenient.Present(inner) {
		e := errorOf(inner)
		e.Message = cmp.Or(e.Message, lenient.Text(message))
		return e
	}
	status := scalar(r.Get("status")) // may be a name such as RESOURCE_EXHAUSTED
	e := apiError{Message: lenient.Text(message), Type: cmp.Or(scalar(r.Get("type")), status), Code: scalar(r.Get("code"))}
	if raw := lenient.Text(r.Get("metadata.raw")); raw != "" { // what the service behind a gateway said
		behind := parseError([]byte(raw))
		e.Type += " " + behind.Type + " " + behind.Code
		e.Message += ": " + cmp.Or(behind.Message, raw)
	}
	for _, s := range []string{e.Code, status} {
		if n, err := strconv.Atoi(s); err == nil && n >= 400 && n < 600 {
			e.Status = n
			break
		}
	}
	return e
}

// scalar returns a value as text; lists and objects give an empty string.
func scalar(r gjson.Result) string {
	if r.IsObject() || r.IsArray() {
		return ""
	}
	return lenient.Text(r)
}

// statusError classifies a response with an error status.
func (m *masker) statusError(status int, header http.Header, body []byte, now time.Time) *model.Error {
	parsed := parseError(body)
	e := classify(status, parsed)
	e.Status = status
	e.RetryAfter = apicall.RetryAfter(header, now)
	if e.RetryAfter == 0 && e.Reason == model.ReasonRate {
		e.RetryAfter = resetIn(header, now)
	}
	if e.RetryAfter == 0 && e.Retryable {
		e.RetryAfter = retryIn(parsed.Message)
	}
	switch strings.ToLower(header.Get("X-Should-Retry")) {
	case "true":
		e.Retryable = true
	case "false":
		e.Retryable = false
	}
	if e.Message = m.message(parsed.Message); e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(status))
	}
	return e
}

// resetIn returns the time until the last exhausted limit is renewed, as Anthropic's and OpenAI's
// headers say it: anthropic-ratelimit-tokens-remaining and -reset, a time, and
// x-ratelimit-remaining-tokens and x-ratelimit-reset-tokens, a duration.
func resetIn(header http.Header, now time.Time) (wait time.Duration) {
	for name := range header {
		if header.Get(name) != "0" {
			continue
		}
		name = strings.ToLower(name)
		var left time.Duration
		if reset, ok := strings.CutSuffix(name, "-remaining"); ok && strings.HasPrefix(name, "anthropic-ratelimit-") {
			if at, err := time.Parse(time.RFC3339, header.Get(reset+"-reset")); err == nil {
				left = at.Sub(now)
			}
		} else if what, ok := strings.CutPrefix(name, "x-ratelimit-remaining-"); ok {
			left, _ = time.ParseDuration(header.Get("x-ratelimit-reset-" + what)) // without one there is no wait
		}
		wait = max(wait, min(left, apicall.MaxRetryAfter))
	}
	return wait
}

// objectError classifies an error object inside a stream.
func (m *masker) objectError(object json.RawMessage) *model.Error {
	parsed := parseError(object)
	e := classify(parsed.Status, parsed)
	e.Message = m.message(parsed.Message)
	if e.Retryable {
		e.RetryAfter = retryIn(parsed.Message)
	}
	return e
}

// classify finds the reason of a failure; status is 0 inside a stream.
func classify(status int, a apiError) *model.Error {
	words := strings.ToLower(a.Code + " " + a.Type + " " + a.Message)
	e := &model.Error{Reason: reasonOf(status, words)}
	switch e.Reason {
	case model.ReasonRate, model.ReasonOverloaded, model.ReasonNetwork, model.ReasonCut, model.ReasonIdle:
		e.Retryable = true
	case model.ReasonAuth, model.ReasonQuota, model.ReasonNotFound, model.ReasonAddress, model.ReasonTooLong, model.ReasonBadRequest, model.ReasonFiltered, model.ReasonInternal:
	}
	return e
}

// namesModel reports whether a service says that the model is unknown.
func namesModel(words string) bool {
	return containsAny(words, "model", "deployment", "endpoints found", "engine", "模型")
}

func reasonOf(status int, words string) model.Reason {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusBadRequest && containsAny(words, "api key not valid"):
		return model.ReasonAuth
	case status == http.StatusPaymentRequired, isQuota(status, words):
		return model.ReasonQuota
	case isThrottle(status, words):
		return model.ReasonRate
	case status == http.StatusRequestEntityTooLarge, isTooLong(words) && (status != http.StatusTooManyRequests || containsAny(words, "too large", "context")): // a 429 mostly counts the tokens of a minute
		return model.ReasonTooLong
	case status == http.StatusTooManyRequests:
		return model.ReasonRate
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return model.ReasonOverloaded
	case containsAny(words, "model_not_found", "model not exist", "not a valid model id"), status == http.StatusNotFound && (strings.TrimSpace(words) == "" || namesModel(words)):
		return model.ReasonNotFound
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status >= 300 && status < 400:
		return model.ReasonAddress
	case containsAny(words, "content_filter", "content_policy", "content management policy", "data_inspection_failed", "contentfilter", "invalid_prompt", "bio_policy"):
		return model.ReasonFiltered
	case containsAny(words, "failed_generation", "tool_use_failed", "output_parse_failed"): // Groq could not read what the model wrote
		return model.ReasonCut
	case status != 0:
		return model.ReasonBadRequest
	case containsAny(words, "rate_limit", "rate limit", "resource_exhausted", "too many requests"):
		return model.ReasonRate
	case containsAny(words, "invalid_api_key", "authentication", "permission"):
		return model.ReasonAuth
	case containsAny(words, "invalid_", "bad_request", "image_", "_image"):
		return model.ReasonBadRequest
	default:
		return model.ReasonOverloaded
	}
}

// isQuota recognizes how providers say that an account is exhausted. Some use the same text for the
// quota of a minute, and say when to retry.
func isQuota(status int, words string) bool {
	if status != 0 && status != http.StatusTooManyRequests && status != http.StatusBadRequest {
		return false
	}
	return !containsAny(words, "retry in ", "try again in ", "per minute", "perminute") && containsAny(words, "insufficient_quota", "exceeded your current quota", "insufficient balance", "insufficient_balance",
		"credit balance is too low", "credits are depleted", "余额不足", "arrearage", "billing_hard_limit", "billing_not_active")
}

// isThrottle recognizes refusals that count tokens but are temporary.
func isThrottle(status int, words string) bool {
	return (status == 0 || status == http.StatusTooManyRequests) &&
		containsAny(words, "wait before trying", "throttlingexception", "throttling_exception", "throttling.")
}

// isTooLong recognizes how providers say that the context does not fit.
func isTooLong(words string) bool {
	return !containsAny(words, idTooLong) && containsAny(words,
		"context_length_exceeded", "context_window_exceeded", "exceed_context_size", "tokens_limit_reached", "max_prompt_tokens_exceeded",
		"maximum context length", "maximum prompt length", "maximum model length", "maximum input length", "model's maximum context",
		"context window", "context length", "context size", "context limit", "max_seq_len", "max input tokens", "max input characters",
		"prompt is too long", "prompt too long", "input is too long", "input too long", "tokens too long", "too many tokens", "too many input tokens",
		"reduce the length of", "exceeds the maximum number of tokens", "exceed max message tokens", "model token limit", "token limit exceeded", "exceeds token limit", "prompt token count",
		"input token count", "range of input length", "input length exceeds", "tokens exceed", "string too long", "request too large for",
		"`inputs` tokens",
		"超长", "上下文长度", "输入长度", "token数超过", "tokens超过")
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// retryIn returns the delay that a message names if there is no header for it, such as "Please
// retry in 23.4s" or "try again in 1m2s", or 0.
func retryIn(message string) time.Duration {
	message = strings.ToLower(message)
	for _, words := range []string{"try again in ", "retry in "} {
		_, rest, found := strings.Cut(message, words)
		if !found {
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
		if end < 0 {
			end = len(rest)
		}
		if d, err := time.ParseDuration(strings.TrimRight(rest[:end], ".")); err == nil && d > 0 {
			return min(d, apicall.MaxRetryAfter)
		}
	}
	return 0
}
