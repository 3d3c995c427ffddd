package provider

import (
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
)

// TestConformanceReadsEveryMember changes each field of the cases in turn: the check must fail,
// except for fields that are irrelevant to it.
func TestConformanceReadsEveryMember(t *testing.T) {
	cannotMatter := map[string]string{
		"prompt expect.chatCompletionsError.message": "it is there to read",
		"prompt expect.promptError.message":          "it is there to read",
		"prompt messages[].id":                       "models never see it",
		"prompt note":                                "it is there to read",
	}
	got := map[string]bool{}
	for _, member := range conformancetest.Unnoticed(t, filepath.Join("testdata", "conformance"), 3, "prompt", "response") {
		got[member] = true
		if cannotMatter[member] == "" {
			t.Errorf("no change of %q is noticed", member)
		}
	}
	for member := range cannotMatter {
		if !got[member] {
			t.Errorf("%q is said not to matter, and does", member)
		}
	}
}
