package modelmessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// appendCall adds a call that the model made, the request for its approval, and the
// result if the provider ran it.
func appendCall(said []Part, p *uimessage.Tool) []Part {
	if p.State == uimessage.ToolInputStreaming {
		return said
	}
	call := ToolCall{
		ToolCallID: p.ToolCallID, ToolName: p.Name, Nameless: p.Unnamed, Input: p.Input,
		ProviderExecuted: p.ProviderExecuted, ProviderOptions: rawjson.NotNull(p.CallProviderMetadata),
	}
	if p.State == uimessage.ToolOutputError {
		if len(rawjson.NotNull(p.Input)) == 0 {
			call.Input = p.RawInput
		}
		if len(call.ProviderOptions) == 0 {
			call.ProviderOptions = rawjson.NotNull(p.ResultProviderMetadata)
		}
	}
	said = append(said, call)
	if a := p.Approval; a != nil {
		said = append(said, ApprovalRequest{ApprovalID: a.ID, ToolCallID: p.ToolCallID, Signature: a.Signature, InputSchemaInput: a.InputSchemaInput})
	}
	if !p.ProviderExecuted.Value || p.State != uimessage.ToolOutputAvailable && p.State != uimessage.ToolOutputError {
		return said
	}
	options := rawjson.NotNull(p.ResultProviderMetadata)
	if len(options) == 0 {
		options = rawjson.NotNull(p.CallProviderMetadata)
	}
	return append(said, ToolResult{ToolCallID: p.ToolCallID, ToolName: p.Name, Nameless: p.Unnamed, Output: outputOf(p, OutputErrorJSON), ProviderOptions: options})
}

// appendOutcome adds the decision of a person, and the outcome of a call that we run.
func appendOutcome(became []Part, p *uimessage.Tool) []Part {
	if a := p.Approval; a != nil && a.Approved.Set {
		became = append(became, ApprovalResponse{ApprovalID: a.ID, Approved: a.Approved.Value, Reason: a.Reason, ProviderExecuted: p.ProviderExecuted})
	}
	if p.ProviderExecuted.Value {
		return became
	}
	result := ToolResult{ToolCallID: p.ToolCallID, ToolName: p.Name, Nameless: p.Unnamed, ProviderOptions: rawjson.NotNull(p.CallProviderMetadata)}
	switch p.State {
	case uimessage.ToolOutputDenied:
		result.Output = Output{Type: OutputErrorText, Text: TextDenied}
		if p.Approval != nil {
			result.Output.Text = p.Approval.Reason.Or(TextDenied)
		}
	case uimessage.ToolOutputAvailable, uimessage.ToolOutputError:
		result.Output = outputOf(p, OutputErrorText)
	case uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested, uimessage.ToolApprovalResponded:
		return became
	default:
		return became
	}
	return append(became, result)
}

// outputOf is a call's result as the model reads it. An error becomes an output of the
// given type.
func outputOf(p *uimessage.Tool, failure OutputType) Output {
	if p.State == uimessage.ToolOutputError {
		if failure == OutputErrorText {
			return Output{Type: OutputErrorText, Text: p.ErrorText.Or(textUnknown)}
		}
		value := json.RawMessage("null")
		if p.ErrorText.Set {
			value = rawjson.AppendString(nil, p.ErrorText.Value)
		}
		return Output{Type: OutputErrorJSON, JSON: value}
	}
	if text, ok := rawjson.Unquote(p.Output); ok {
		return Output{Type: OutputText, Text: text}
	}
	if len(p.Output) == 0 {
		return Output{Type: OutputJSON, JSON: json.RawMessage("null")}
	}
	return Output{Type: OutputJSON, JSON: p.Output}
}
