package uimessage

import "encoding/json"

// ToolState is the place of a tool call between its first byte and its outcome.
type ToolState string

// The states of a tool call. A call without an outcome is open.
const (
	ToolInputStreaming    ToolState = "input-streaming"
	ToolInputAvailable    ToolState = "input-available"
	ToolApprovalRequested ToolState = "approval-requested"
	ToolApprovalResponded ToolState = "approval-responded"
	ToolOutputAvailable   ToolState = "output-available"
	ToolOutputError       ToolState = "output-error"
	ToolOutputDenied      ToolState = "output-denied"
)

// Settled reports whether the state is an outcome: output, error or denial.
func (s ToolState) Settled() bool {
	return s == ToolOutputAvailable || s == ToolOutputError || s == ToolOutputDenied
}

// Tool is a tool call with everything known of it: a static part of type
// `tool-<Name>`, or a part of type `dynamic-tool` that carries `toolName`.
type Tool struct {
	ToolCallID string
	Name       string
	// Dynamic says that the part is of type `dynamic-tool`.
	Dynamic bool
	// Unnamed says that a dynamic part came without `toolName`. Name is empty then.
	Unnamed bool
	// WasStatic is the member `dynamic: false`, by which a dynamic part remembers
	// that it once was a static one.
	WasStatic bool
	State     ToolState

	// Input is nil when absent. RawInput is the text received so far while the
	// input streams, and any value that failed to be an input afterwards.
	Input         json.RawMessage
	RawInput      json.RawMessage
	InputEncoding string

	// Output is the tool's result, ErrorText its failure.
	Output      json.RawMessage
	ErrorText   Optional[string]
	Preliminary Optional[bool]

	Title            Optional[string]
	ToolMetadata     json.RawMessage
	ProviderExecuted Optional[bool]

	CallProviderMetadata   json.RawMessage
	ResultProviderMetadata json.RawMessage

	// Approval is nil when nobody was asked. What it points to is never changed.
	Approval *Approval
	Extra    []Member
}

// Approval is a person's say on a tool call. Approved is absent while the
// question is open.
type Approval struct {
	ID               string
	Approved         Optional[bool]
	Reason           Optional[string]
	Signature        Optional[string]
	Descriptor       json.RawMessage
	InputSchemaInput json.RawMessage
	Extra            []Member
}

// Type implements Part.
func (p Tool) Type() string {
	if p.Dynamic {
		return typeDynamicTool
	}
	return prefixTool + p.Name
}
