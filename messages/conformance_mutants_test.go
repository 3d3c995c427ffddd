package messages_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
)

func TestConformanceReadsEveryMember(t *testing.T) {
	cannotMatter := map[string]string{
		"convert messages[].id":                               "models never see it",
		"convert messages[].metadata":                         "models never see it",
		"convert messages[].parts[].approval.descriptor":      "people see it, models do not",
		"convert messages[].parts[].approval.descriptor.risk": "people see it, models do not",
		"convert messages[].parts[].depth":                    "the SDK knows no such member",
		"convert messages[].parts[].id":                       "models never see it",
		"convert messages[].parts[].toolMetadata":             "models never see it",
		"convert messages[].parts[].toolMetadata.ui":          "models never see it",
		"convert note":                                          "it is there to read",
		"sse-encode note":                                       "it is there to read",
		"sse-encode optional":                                   "Go has no half a surrogate pair",
		"stream chunks[].reason":                                "no message holds it",
		"stream chunks[].value":                                 "no message holds it",
		"stream expect.read.errors[].message":                   "it is there to read",
		"stream note":                                           "it is there to read",
		"validate note":                                         "it is there to read",
		"validate either":                                       "what it allows is what happens",
		"validate messages[].content":                           "validation knows no such member and drops it",
		"validate messages[].createdAt":                         "validation knows no such member and drops it",
		"validate messages[].parts[].annotations":               "validation knows no such member and drops it",
		"validate messages[].parts[].approval.isAutomatic":      "validation knows no such member and drops it",
		"validate messages[].parts[].at":                        "validation knows no such member and drops it",
		"validate messages[].parts[].depth":                     "validation knows no such member and drops it",
		"validate messages[].parts[].mimeType":                  "validation knows no such member and drops it",
		"validate messages[].parts[].reasoning":                 "validation knows no such member and drops it",
		"validate messages[].parts[].source":                    "validation knows no such member and drops it",
		"validate messages[].parts[].source.id":                 "validation knows no such member and drops it",
		"validate messages[].parts[].source.sourceType":         "validation knows no such member and drops it",
		"validate messages[].parts[].source.url":                "validation knows no such member and drops it",
		"validate messages[].parts[].toolInvocation":            "validation knows no such member and drops it",
		"validate messages[].parts[].toolInvocation.args":       "validation knows no such member and drops it",
		"validate messages[].parts[].toolInvocation.result":     "validation knows no such member and drops it",
		"validate messages[].parts[].toolInvocation.state":      "validation knows no such member and drops it",
		"validate messages[].parts[].toolInvocation.toolCallId": "validation knows no such member and drops it",
		"validate messages[].parts[].toolInvocation.toolName":   "validation knows no such member and drops it",
		"validate messages[].parts[].transient":                 "validation knows no such member and drops it",
		"validate messages[].parts[].rawInput.a":                "any value is allowed there",
		"validate options.dataSchemas.note.required":            "schema libraries disagree about a missing member",
		"validate options.metadataSchema.required":              "schema libraries disagree about a missing member",
	}
	conformancetest.ReadsEveryMember(t, 3, cannotMatter, "stream", "sse-encode", "partial-json", "convert", "validate")
}
