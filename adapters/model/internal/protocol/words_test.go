package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
