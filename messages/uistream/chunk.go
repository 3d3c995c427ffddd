package uistream

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Chunk is one chunk of the UI message stream, always as a value, never as a
// pointer. Nobody changes a chunk after making it; raw values are nil when absent.
//
//sumtype:decl
type Chunk interface {
	// Type is the chunk's `type` member, such as `text-delta` or `data-note`.
	Type() string

	// apply applies the chunk to a message and reports whether there is something
	// new to show.
	apply(r *Reducer) (bool, error)
	// write walks over the members to append them.
	write(f *fields)
}

// FinishReason says why a model stopped.
type FinishReason string

// The reasons for which a model stops.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishContentFilter FinishReason = "content-filter"
	FinishToolCalls     FinishReason = "tool-calls"
	FinishError         FinishReason = "error"
	FinishOther         FinishReason = "other"
)

// Start opens a message; with the id of a stored one it continues that.
type Start struct {
	MessageID uimessage.Optional[string]
	Metadata  json.RawMessage
	Extra     []uimessage.Member
}

// Finish ends a message.
type Finish struct {
	Reason   FinishReason
	Metadata json.RawMessage
	Extra    []uimessage.Member
}

// Abort ends a message that was stopped.
type Abort struct {
	Reason uimessage.Optional[string]
	Extra  []uimessage.Member
}

// MessageMetadata is merged into the message's metadata.
type MessageMetadata struct {
	Metadata json.RawMessage
	Extra    []uimessage.Member
}

// StartStep opens a step, which is one model call with its tool calls.
type StartStep struct{ Extra []uimessage.Member }

// FinishStep ends a step and forgets which texts were open in it.
type FinishStep struct{ Extra []uimessage.Member }

// Error reports a failure; the stream goes on.
type Error struct {
	ErrorText string
	Extra     []uimessage.Member
}

// TextStart opens a text.
type TextStart struct {
	ID               string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// TextDelta is more of an open text.
type TextDelta struct {
	ID               string
	Delta            string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// TextEnd ends an open text.
type TextEnd struct {
	ID               string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// ReasoningStart opens a reasoning.
type ReasoningStart struct {
	ID               string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// ReasoningDelta is more of an open reasoning.
type ReasoningDelta struct {
	ID               string
	Delta            string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// ReasoningEnd ends an open reasoning.
type ReasoningEnd struct {
	ID               string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// ToolInputStart opens a tool call whose input streams.
type ToolInputStart struct {
	ToolCallID       string
	ToolName         string
	InputEncoding    string
	ProviderExecuted uimessage.Optional[bool]
	ProviderMetadata json.RawMessage
	ToolMetadata     json.RawMessage
	Dynamic          uimessage.Optional[bool]
	Title            uimessage.Optional[string]
	Extra            []uimessage.Member
}

// ToolInputDelta is more of a streaming input.
type ToolInputDelta struct {
	ToolCallID string
	Delta      string
	Extra      []uimessage.Member
}

// ToolInputAvailable is a tool call with its whole input.
type ToolInputAvailable struct {
	ToolCallID       string
	ToolName         string
	Input            json.RawMessage
	ProviderExecuted uimessage.Optional[bool]
	ProviderMetadata json.RawMessage
	ToolMetadata     json.RawMessage
	Dynamic          uimessage.Optional[bool]
	Title            uimessage.Optional[string]
	Extra            []uimessage.Member
}

// ToolInputError is a tool call whose input is no valid one.
type ToolInputError struct {
	ToolCallID       string
	ToolName         string
	Input            json.RawMessage
	ErrorText        string
	ProviderExecuted uimessage.Optional[bool]
	ProviderMetadata json.RawMessage
	ToolMetadata     json.RawMessage
	Dynamic          uimessage.Optional[bool]
	Title            uimessage.Optional[string]
	Extra            []uimessage.Member
}

// ToolApprovalRequest asks for a person's say on a tool call.
type ToolApprovalRequest struct {
	ApprovalID       string
	ToolCallID       string
	Descriptor       json.RawMessage
	InputSchemaInput json.RawMessage
	Signature        uimessage.Optional[string]
	Extra            []uimessage.Member
}

// ToolOutputAvailable is a tool's result, or with Preliminary a first part of it.
type ToolOutputAvailable struct {
	ToolCallID       string
	Output           json.RawMessage
	ProviderExecuted uimessage.Optional[bool]
	ProviderMetadata json.RawMessage
	ToolMetadata     json.RawMessage
	Dynamic          uimessage.Optional[bool]
	Preliminary      uimessage.Optional[bool]
	Extra            []uimessage.Member
}

// ToolOutputError is a tool's failure.
type ToolOutputError struct {
	ToolCallID       string
	ErrorText        string
	ProviderExecuted uimessage.Optional[bool]
	ProviderMetadata json.RawMessage
	ToolMetadata     json.RawMessage
	Dynamic          uimessage.Optional[bool]
	Extra            []uimessage.Member
}

// ToolOutputDenied settles a call that a person refused.
type ToolOutputDenied struct {
	ToolCallID string
	Extra      []uimessage.Member
}

// SourceURL is a link the model drew on.
type SourceURL struct {
	SourceID         string
	URL              string
	Title            uimessage.Optional[string]
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// SourceDocument is a document the model drew on.
type SourceDocument struct {
	SourceID         string
	MediaType        string
	Title            string
	Filename         uimessage.Optional[string]
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// File is a file the model made. The stream knows no file names.
type File struct {
	URL              string
	MediaType        string
	ProviderMetadata json.RawMessage
	Extra            []uimessage.Member
}

// Data is an application's own chunk, of type `data-<Name>`. With the id of an
// earlier one it replaces that one's data; transient ones are not kept.
type Data struct {
	Name      string
	ID        uimessage.Optional[string]
	Data      json.RawMessage
	Transient uimessage.Optional[bool]
	Extra     []uimessage.Member
}

// Unknown is a chunk of a type this package does not know, kept whole. It
// changes no message.
type Unknown struct {
	Name string
	Raw  json.RawMessage
}

// Type implements Chunk.
func (Start) Type() string { return "start" }

// Type implements Chunk.
func (Finish) Type() string { return "finish" }

// Type implements Chunk.
func (Abort) Type() string { return "abort" }

// Type implements Chunk.
func (MessageMetadata) Type() string { return "message-metadata" }

// Type implements Chunk.
func (StartStep) Type() string { return "start-step" }

// Type implements Chunk.
func (FinishStep) Type() string { return "finish-step" }

// Type implements Chunk.
func (Error) Type() string { return "error" }

// Type implements Chunk.
func (TextStart) Type() string { return "text-start" }

// Type implements Chunk.
func (TextDelta) Type() string { return "text-delta" }

// Type implements Chunk.
func (TextEnd) Type() string { return "text-end" }

// Type implements Chunk.
func (ReasoningStart) Type() string { return "reasoning-start" }

// Type implements Chunk.
func (ReasoningDelta) Type() string { return "reasoning-delta" }

// Type implements Chunk.
func (ReasoningEnd) Type() string { return "reasoning-end" }

// Type implements Chunk.
func (ToolInputStart) Type() string { return "tool-input-start" }

// Type implements Chunk.
func (ToolInputDelta) Type() string { return "tool-input-delta" }

// Type implements Chunk.
func (ToolInputAvailable) Type() string { return "tool-input-available" }

// Type implements Chunk.
func (ToolInputError) Type() string { return "tool-input-error" }

// Type implements Chunk.
func (ToolApprovalRequest) Type() string { return "tool-approval-request" }

// Type implements Chunk.
func (ToolOutputAvailable) Type() string { return "tool-output-available" }

// Type implements Chunk.
func (ToolOutputError) Type() string { return "tool-output-error" }

// Type implements Chunk.
func (ToolOutputDenied) Type() string { return "tool-output-denied" }

// Type implements Chunk.
func (SourceURL) Type() string { return "source-url" }

// Type implements Chunk.
func (SourceDocument) Type() string { return "source-document" }

// Type implements Chunk.
func (File) Type() string { return "file" }

// Type implements Chunk.
func (c Data) Type() string { return prefixData + c.Name }

// Type implements Chunk.
func (c Unknown) Type() string { return c.Name }

const prefixData = "data-"
