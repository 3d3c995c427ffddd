package protocol

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
)

// IsError reports whether an object is an error, in the form of any protocol.
func IsError(object gjson.Result) bool {
	const word = "error"
	return lenient.Present(object.Get(word)) || object.Get("type").Str == word || object.Get("object").Str == word
}

// Unified returns the unified finish reason for the word of a service. Gateways pass on the words of
// other protocols, so it knows those of all.
func Unified(reason string) string {
	switch strings.ToLower(reason) {
	case "stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed":
		return "stop"
	case "tool_calls", "tool_use", "function_call":
		return "tool-calls"
	case "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded":
		return "length"
	case "content_filter", "refusal", "safety", "sensitive", "recitation", "blocklist", "prohibited_content", "spii", "guardrail_intervened":
		return "content-filter"
	default:
		return "other"
	}
}
