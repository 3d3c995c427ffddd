package modelmessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// appendCall adds a call that the model made, the request for its approval, and the
// result if the provider ran it.
func appendCall(said []Part, p *uimessage.Tool, opts Options) ([]Part, error) {
	if p.State == uimessage.ToolInputStreaming {
		return said, nil
	}
	call := ToolCall{
		ToolCallID: p.ToolCallID, ToolName: p.Name, Nameless: p.Unnamed, Input: p.Input,
		ProviderExecuted: flag(p.ProviderExecuted), ProviderOptions: rawjson.NotNull(p.CallProviderMetadata),
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
		request := ApprovalRequest{ApprovalID: a.ID, ToolCallID: p.ToolCallID, InputSchemaInput: a.InputSchemaInput}
		if a.Signature.Set {
			request.Signature = &a.Signature.Value
		}
		said = append(said, request)
	}
	if !p.ProviderExecuted.Value || p.State != uimessage.ToolOutputAvailable && p.State != uimessage.ToolOutputError {
		return said, nil
	}
	output, err := outputOf(p, OutputErrorJSON, opts)
	if err != nil {
		return nil, err
	}
	options := rawjson.NotNull(p.ResultProviderMetadata)
	if len(options) == 0 {
		options = rawjson.NotNull(p.CallProviderMetadata)
	}
	return append(said, ToolResult{ToolCallID: p.ToolCallID, ToolName: p.Name, Nameless: p.Unnamed, Output: output, ProviderOptions: options}), nil
}

// appendOutcome adds the decision of a person, and the outcome of a call that we run.
func appendOutcome(became []Part, p *uimessage.Tool, opts Options) ([]Part, error) {
	if a := p.Approval; a != nil && a.Approved.Set {
		response := ApprovalResponse{ApprovalID: a.ID, Approved: a.Approved.Value, ProviderExecuted: flag(p.ProviderExecuted)}
		if a.Reason.Set {
			response.Reason = &a.Reason.Value
		}
		became = append(became, response)
	}
	if p.ProviderExecuted.Value {
		return became, nil
	}
	result := ToolResult{ToolCallID: p.ToolCallID, ToolName: p.Name, Nameless: p.Unnamed, ProviderOptions: rawjson.NotNull(p.CallProviderMetadata)}
	switch p.State {
	case uimessage.ToolOutputDenied:
		result.Output = Output{Type: OutputErrorText, Text: TextDenied}
		if p.Approval != nil {
			result.Output.Text = p.Approval.Reason.Or(TextDenied)
		}
	case uimessage.ToolOutputAvailable, uimessage.ToolOutputError:
		var err error
		if result.Output, err = outputOf(p, OutputErrorText, opts); err != nil {
			return nil, err
		}
	case uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested, uimessage.ToolApprovalResponded:
		return became, nil
	default:
		return became, nil
	}
	return append(became, result), nil
}

// outputOf is a call's result as the model reads it. An error becomes an output of the
// given type.
func outputOf(p *uimessage.Tool, failure OutputType, opts Options) (Output, error) {
	if p.State == uimessage.ToolOutputError {
		if failure == OutputErrorText {
			return Output{Type: OutputErrorText, Text: p.ErrorText.Or(textUnknown)}, nil
		}
		value := json.RawMessage("null")
		if p.ErrorText.Set {
			value = rawjson.AppendString(nil, p.ErrorText.Value)
		}
		return Output{Type: OutputErrorJSON, JSON: value}, nil
	}
	tool, known := opts.Tools[p.Name]
	if p.WasStatic && !known {
		return Output{Type: OutputText, Text: TextVanished}, nil
	}
	if tool.ToModelOutput != nil {
		return tool.ToModelOutput(CallResult{ToolCallID: p.ToolCallID, Input: p.Input, Output: p.Output})
	}
	if text, ok := rawjson.Unquote(p.Output); ok {
		return Output{Type: OutputText, Text: text}, nil
	}
	if len(p.Output) == 0 {
		return Output{Type: OutputJSON, JSON: json.RawMessage("null")}, nil
	}
	return Output{Type: OutputJSON, JSON: p.Output}, nil
}

// flag converts a truth value to the form that model messages use.
func flag(v uimessage.Optional[bool]) *bool {
	if !v.Set {
		return nil
	}
	return &v.Value
}
