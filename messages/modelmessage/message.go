// Package modelmessage is what a history looks like to a model: the model
// messages of the AI SDK 6.0.326, and the one conversion of UI messages to them.
//
// A message is a value. A part, a raw value or a slice must not be changed after the
// message was passed on; under that rule everything here is safe for concurrent use, and
// encoded forms may be kept and used again.
package modelmessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Role says who speaks.
type Role string

// The roles of a model message.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one model message. Its content is either a string or parts, and the
// difference survives the codec.
//
//codec:object open
type Message struct {
	Role Role `codec:"role"`
	// Text is the content if Parts is nil.
	Text string
	// Parts is the content unless it is nil; no parts at all are a slice of length 0.
	Parts []Part `codec:"content,func,required"`
	// ProviderOptions is nil when absent.
	ProviderOptions json.RawMessage `codec:"providerOptions"`
}

// Part is one part of a content: Text, Reasoning, Image, File, ToolCall,
// ToolResult, ApprovalRequest or ApprovalResponse, always as a value, never as a
// pointer. Raw members are nil when absent; null is the value null.
//
//sumtype:decl
type Part interface {
	// Type is the part's `type` member.
	Type() string

	part()
}

// Text is text of the message itself.
//
//codec:type text open
type Text struct {
	Text            string          `codec:"text"`
	ProviderOptions json.RawMessage `codec:"providerOptions"`
}

// Reasoning is what the model thought.
//
//codec:type reasoning open
type Reasoning struct {
	Text            string          `codec:"text"`
	ProviderOptions json.RawMessage `codec:"providerOptions"`
}

// Image is a picture: base64, a data URL or a link.
//
//codec:type image open
type Image struct {
	Image           string          `codec:"image"`
	MediaType       string          `codec:"mediaType,omitempty"`
	ProviderOptions json.RawMessage `codec:"providerOptions"`
}

// File is any file: base64, a data URL or a link.
//
//codec:type file open
type File struct {
	MediaType       string                     `codec:"mediaType"`
	Filename        uimessage.Optional[string] `codec:"filename"`
	Data            string                     `codec:"data"`
	ProviderOptions json.RawMessage            `codec:"providerOptions"`
}

// ToolCall is a call that the model made.
//
//codec:type tool-call open
type ToolCall struct {
	ToolCallID string `codec:"toolCallId"`
	ToolName   string `codec:"toolName,absent=Nameless"`
	// Nameless says that the call has no name and is written so, which is not the same
	// as an empty name.
	Nameless         bool
	Input            json.RawMessage          `codec:"input"`
	ProviderExecuted uimessage.Optional[bool] `codec:"providerExecuted"`
	ProviderOptions  json.RawMessage          `codec:"providerOptions"`
}

// ToolResult answers a call.
//
//codec:type tool-result open
type ToolResult struct {
	ToolCallID      string          `codec:"toolCallId"`
	ToolName        string          `codec:"toolName,absent=Nameless"`
	Nameless        bool            // as in [ToolCall]
	Output          Output          `codec:"output,func,required"`
	ProviderOptions json.RawMessage `codec:"providerOptions"`
}

// ApprovalRequest says that a call waits for a person's approval.
//
//codec:type tool-approval-request open
type ApprovalRequest struct {
	ApprovalID       string                     `codec:"approvalId"`
	ToolCallID       string                     `codec:"toolCallId"`
	Signature        uimessage.Optional[string] `codec:"signature"`
	InputSchemaInput json.RawMessage            `codec:"inputSchemaInput"`
}

// ApprovalResponse is the person's decision.
//
//codec:type tool-approval-response open
type ApprovalResponse struct {
	ApprovalID       string                     `codec:"approvalId"`
	Approved         bool                       `codec:"approved"`
	Reason           uimessage.Optional[string] `codec:"reason"`
	ProviderExecuted uimessage.Optional[bool]   `codec:"providerExecuted"`
}

// OutputType is the kind of a tool result.
type OutputType string

// The kinds of tool results and the member of [Output] that holds each.
const (
	OutputText            OutputType = "text"             // Text
	OutputJSON            OutputType = "json"             // JSON
	OutputErrorText       OutputType = "error-text"       // Text
	OutputErrorJSON       OutputType = "error-json"       // JSON
	OutputContent         OutputType = "content"          // JSON, an array of content parts
	OutputExecutionDenied OutputType = "execution-denied" // Reason
)

// Output is the result of a tool in the form that the model reads.
//
//codec:object open
type Output struct {
	Type            OutputType `codec:"type"`
	Text            string
	JSON            json.RawMessage            `codec:"value,func"`
	Reason          uimessage.Optional[string] `codec:"reason"`
	ProviderOptions json.RawMessage            `codec:"providerOptions"`
}
