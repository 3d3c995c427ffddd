package protocol

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestUnified(t *testing.T) {
	want := map[string]string{
		"stop": "stop", "STOP": "stop", "end_turn": "stop", "tool_calls": "tool-calls", "tool_use": "tool-calls",
		"length": "length", "max_tokens": "length", "model_context_window_exceeded": "length",
		"content_filter": "content-filter", "SAFETY": "content-filter", "refusal": "content-filter", "pause_turn": "other", "abort": "other",
	}
	got := map[string]string{}
	for reason := range want {
		got[reason] = Unified(reason)
	}
	stdtest.Diff(t, "", want, got)
}
