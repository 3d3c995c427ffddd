package provider

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
)

func TestConformanceReadsEveryMember(t *testing.T) {
	cannotMatter := map[string]string{
		"prompt expect.chatCompletionsError.message": "it is there to read",
		"prompt expect.promptError.message":          "it is there to read",
		"prompt messages[].id":                       "models never see it",
		"prompt note":                                "it is there to read",
	}
	conformancetest.ReadsEveryMember(t, 3, cannotMatter, "prompt", "response")
}
