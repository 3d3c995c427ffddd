package protocol

import (
	"bytes"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// equalMessages reports whether two messages are equal, byte for byte. Values that share memory are
// compared without reading it, so that a history that only grew costs next to nothing.
func equalMessages(a, b modelmessage.Message) bool {
	if a.Role != b.Role || a.Text != b.Text || len(a.Parts) != len(b.Parts) || (a.Parts == nil) != (b.Parts == nil) || !bytes.Equal(a.ProviderOptions, b.ProviderOptions) {
		return false
	}
	for i := range a.Parts {
		if !equalParts(a.Parts[i], b.Parts[i]) {
			return false
		}
	}
	return true
}

func equalParts(a, b modelmessage.Part) bool {
	switch a := a.(type) {
	case modelmessage.Text:
		b, ok := b.(modelmessage.Text)
		return ok && a.Text == b.Text && bytes.Equal(a.ProviderOptions, b.ProviderOptions)
	case modelmessage.Reasoning:
		b, ok := b.(modelmessage.Reasoning)
		return ok && a.Text == b.Text && bytes.Equal(a.ProviderOptions, b.ProviderOptions)
	case modelmessage.Image:
		b, ok := b.(modelmessage.Image)
		return ok && a.Image == b.Image && a.MediaType == b.MediaType && bytes.Equal(a.ProviderOptions, b.ProviderOptions)
	case modelmessage.File:
		b, ok := b.(modelmessage.File)
		return ok && a.Data == b.Data && a.MediaType == b.MediaType && a.Filename == b.Filename &&
			bytes.Equal(a.ProviderOptions, b.ProviderOptions)
	case modelmessage.ToolCall:
		b, ok := b.(modelmessage.ToolCall)
		return ok && a.ToolCallID == b.ToolCallID && a.ToolName == b.ToolName && bytes.Equal(a.Input, b.Input) &&
			a.ProviderExecuted == b.ProviderExecuted && bytes.Equal(a.ProviderOptions, b.ProviderOptions)
	case modelmessage.ToolResult:
		b, ok := b.(modelmessage.ToolResult)
		return ok && a.ToolCallID == b.ToolCallID && a.ToolName == b.ToolName && equalOutputs(a.Output, b.Output) &&
			bytes.Equal(a.ProviderOptions, b.ProviderOptions)
	case modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
		return a.Type() == b.Type() // never sent
	default:
		return false
	}
}

func equalOutputs(a, b modelmessage.Output) bool {
	return a.Type == b.Type && a.Text == b.Text && bytes.Equal(a.JSON, b.JSON) && a.Reason == b.Reason
}
