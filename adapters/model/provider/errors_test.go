package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// TestReasons covers the texts with which providers refuse.
func TestReasons(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   model.Reason
		again  bool
	}{
		{429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, model.ReasonRate, true},
		{429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, model.ReasonQuota, false},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan. Please retry in 23.4s.","status":"RESOURCE_EXHAUSTED"}}]`, model.ReasonRate, true},
		{429, `{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`, model.ReasonRate, true},
		{429, `{"error":{"type":"rate_limit_error","message":"Number of input tokens has exceeded your per-minute rate limit. Please reduce the length of the prompt or try again later."}}`, model.ReasonRate, true},
		{429, `{"message":"Too many tokens, please wait before trying again.","type":"ThrottlingException"}`, model.ReasonRate, true},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, model.ReasonQuota, false},
		{400, `{"error":{"code":"Arrearage","message":"Access denied, your account is not in good standing."}}`, model.ReasonQuota, false},
		{429, `[{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}]`, model.ReasonQuota, false},
		{429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x/y is temporarily rate-limited upstream. Please retry shortly.","provider_name":"Z"}}}`, model.ReasonRate, true},
		{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"code\":\"data_inspection_failed\"}}"}}}`, model.ReasonFiltered, false},
		{400, `{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=t{}"}}`, model.ReasonCut, true},
		{0, `{"message":"Parsing failed. The model generated output that could not be parsed.","type":"invalid_request_error","code":"output_parse_failed"}`, model.ReasonCut, true},
		{401, `{"error":{"message":"Incorrect API key"}}`, model.ReasonAuth, false},
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, model.ReasonAuth, false},
		{402, `{"error":{"message":"Insufficient Balance"}}`, model.ReasonQuota, false},
		{403, `nope`, model.ReasonAuth, false},
		{404, `{"error":{"message":"The model x does not exist","code":"model_not_found"}}`, model.ReasonNotFound, false},
		{400, `{"error":{"message":"x is no model","code":"model_not_found"}}`, model.ReasonNotFound, false},
		{400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, model.ReasonNotFound, false},
		{400, `{"error":{"message":"x/y is not a valid model ID","code":400}}`, model.ReasonNotFound, false},
		{301, ``, model.ReasonAddress, false},
		{404, `{"detail":"Not Found"}`, model.ReasonAddress, false},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, model.ReasonNotFound, false},
		{404, ``, model.ReasonNotFound, false},
		{400, `{"error":{"code":"content_filter","message":"The response was filtered due to the prompt triggering content management policy."}}`, model.ReasonFiltered, false},
		{400, `{"error":{"code":"data_inspection_failed","message":"x"}}`, model.ReasonFiltered, false},
		{400, `{"error":{"message":"unknown field"}}`, model.ReasonBadRequest, false},
		{400, `{"error":7}`, model.ReasonBadRequest, false},
		{408, ``, model.ReasonOverloaded, true},
		{409, ``, model.ReasonOverloaded, true},
		{502, `<html>`, model.ReasonOverloaded, true},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.ReasonOverloaded, true},
		{0, `{"message":"busy","code":503}`, model.ReasonOverloaded, true},
		{0, `{"message":"slow down","code":429}`, model.ReasonRate, true},
		{0, `{"message":"slow down","type":"rate_limit_error"}`, model.ReasonRate, true},
		{0, `{"message":"quota","status":"RESOURCE_EXHAUSTED","code":"x"}`, model.ReasonRate, true},
		{0, `{"message":"who are you","type":"authentication_error"}`, model.ReasonAuth, false},
		{0, `{"message":"bad","type":"invalid_request_error"}`, model.ReasonBadRequest, false},
		{0, `"boom"`, model.ReasonOverloaded, true},
		{0, `{}`, model.ReasonOverloaded, true},
	}
	m := newMasker(nil)
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, " ", tt.body), func(t *testing.T) {
			var e *model.Error
			if tt.status == 0 {
				e = m.objectError([]byte(tt.body))
			} else {
				e = m.statusError(tt.status, http.Header{}, []byte(tt.body), time.Time{})
			}
			if e.Reason != tt.want || e.Retryable != tt.again || e.Status != tt.status {
				t.Errorf("got %s, again %t, status %d; want %s, %t, %d", e.Reason, e.Retryable, e.Status, tt.want, tt.again, tt.status)
			}
		})
	}
}

func TestMask(t *testing.T) {
	m := newMasker([]string{"topsecret", "topsecret-longer", "abc", ""})
	tests := []struct{ name, in, want string }{
		{"known", "with topsecret and topsecret-longer", "with *** and ***"},
		{"too short to know", "abc", "abc"},
		{"key", "Incorrect API key provided: sk-proj-abc***xyz.", "Incorrect API key provided: ***"},
		{"bearer", `header "Bearer abc.def"`, `header "***"`},
		{"address", "https://x.test/?api_key=abc&b=1", "https://x.test/?***&b=1"},
		{"lines", "a\n\n b\tc", "a b c"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"plain words", "sk is a letter pair, key-value too", "sk is a letter pair, key-value too"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.message(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	long := m.message(strings.Repeat("é", 400))
	if len(long) > maxMessage+len("…") || !strings.HasSuffix(long, "é…") {
		t.Errorf("cut to %d bytes: %q", len(long), long)
	}
}

// Services that name no delay say when the limits are renewed.
func TestResetIn(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		headers map[string]string
		want    time.Duration
	}{
		{"nothing", nil, 0},
		{"anthropic", map[string]string{
			"anthropic-ratelimit-requests-remaining": "12", "anthropic-ratelimit-requests-reset": "2026-01-02T03:14:00Z",
			"anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-input-tokens-reset": "2026-01-02T03:04:09Z",
		}, 9 * time.Second},
		{"openai", map[string]string{"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m3s", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms"}, 63 * time.Second},
		{"in the past", map[string]string{"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-01-02T03:03:00Z"}, 0},
		{"no time", map[string]string{"anthropic-ratelimit-tokens-remaining": "0", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "soon"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := http.Header{}
			for name, value := range tt.headers {
				header.Set(name, value)
			}
			failed := newMasker(nil).statusError(http.StatusTooManyRequests, header, []byte(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`), now)
			if failed.RetryAfter != tt.want || !failed.Retryable {
				t.Errorf("wait %v (retryable %t), want %v", failed.RetryAfter, failed.Retryable, tt.want)
			}
		})
	}
}
