package loop_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
)

func TestConformanceReadsEveryMember(t *testing.T) {
	cannotMatter := map[string]string{
		"loop expect.turns[].action.toolOutput.tool":                 "it only types the call",
		"loop expect.turns[].requests[].broken.message":              "it is there to read",
		"loop expect.turns[].requests[].rejected.cause":              "it is there to read",
		"loop expect.turns[].requests[].rejected.context":            "it is there to read",
		"loop expect.turns[].requests[].rejected.context.entityId":   "it is there to read",
		"loop expect.turns[].requests[].rejected.context.entityName": "it is there to read",
		"loop expect.turns[].requests[].rejected.context.field":      "it is there to read",
		"loop model[].json":                     "the error that it becomes hides its words",
		"loop model[].parts[].finishReason.raw": "messages hold the unified reason",
		"loop model[].parts[].preliminary":      "the SDK drops it from results of providers",
		"loop model[].parts[].usage":            "messages hold no usage",
		"loop model[].parts[].warnings":         "messages hold no warnings",
		"loop server.stopWhen[].stepCount":      "the other condition comes first",
		"loop tools.*.execute.returnNothing":    "a tool of which nothing is said returns nothing",
		"loop tools.*.outputSchema":             "no message comes with an output that it refuses",
		"loop note":                             "it is there to read",
	}
	conformancetest.ReadsEveryMember(t, 2, cannotMatter, "loop")
}
