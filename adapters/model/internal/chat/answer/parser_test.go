package answer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// Other providers' finish reasons are translated, except in exact mode.
func TestOtherWordsForFinishReasons(t *testing.T) {
	got := map[string]string{}
	for _, raw := range []string{"max_tokens", "SAFETY", "refusal", "STOP", "tool_use", "abort"} {
		got[raw] = otherWords(model.FinishReason{Unified: unified(raw), Raw: raw})
	}
	want := map[string]string{"max_tokens": "length", "SAFETY": "content-filter", "refusal": "content-filter", "STOP": "stop", "tool_use": "tool-calls", "abort": "other"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
