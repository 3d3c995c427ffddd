package uistream

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Chunk is one chunk of the UI message stream, always as a value, never as a
// pointer. A chunk is never changed after it was made; raw values are nil when absent.
//
//sumtype:decl
type Chunk interface {
	// Type is the chunk's `type` member, such as `text-delta` or `data-note`.
	Type() string

	// apply applies the chunk to a message and reports whether there is something
	// new to show.
	apply(r *Reducer) (bool, error)
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
//
//codec:type start
type Start struct {
	MessageID uimessage.Optional[string] `codec:"messageId"`
	Metadata  json.RawMessage            `codec:"messageMetadata"`
	Extra     []uimessage.Member
}

// Finish ends a message.
//
//codec:type finish
type Finish struct {
	Reason   FinishReason    `codec:"finishReason,omitempty,nullable"`
	Metadata json.RawMessage `codec:"messageMetadata"`
	Extra    []uimessage.Member
}

// Abort ends a message that was stopped.
//
//codec:type abort
type Abort struct {
	Reason uimessage.Optional[string] `codec:"reason"`
	Extra  []uimessage.Member
}

// MessageMetadata is merged into the message's metadata.
//
//codec:type message-metadata
type MessageMetadata struct {
	Metadata json.RawMessage `codec:"messageMetadata"`
	Extra    []uimessage.Member
}

// StartStep opens a step, which is one model call with its tool calls.
//
//codec:type start-step
type StartStep struct {
	Extra []uimessage.Member
}

// FinishStep ends a step and forgets which texts were open in it.
//
//codec:type finish-step
type FinishStep StartStep

// Error reports a failure; the stream continues.
//
//codec:type error
type Error struct {
	ErrorText string `codec:"errorText,required"`
	Extra     []uimessage.Member
}

// TextStart opens a text.
//
//codec:type text-start
type TextStart struct {
	ID               string          `codec:"id,required"`
	ProviderMetadata json.RawMessage `codec:"providerMetadata"`
	Extra            []uimessage.Member
}

// TextDelta is more of an open text.
//
//codec:type text-delta
type TextDelta struct {
	ID               string          `codec:"id,required"`
	Delta            string          `codec:"delta,required"`
	ProviderMetadata json.RawMessage `codec:"providerMetadata"`
	Extra            []uimessage.Member
}

// TextEnd ends an open text.
//
//codec:type text-end
type TextEnd TextStart

// ReasoningStart opens a reasoning.
//
//codec:type reasoning-start
type ReasoningStart TextStart

// ReasoningDelta is more of an open reasoning.
//
//codec:type reasoning-delta
type ReasoningDelta TextDelta

// ReasoningEnd ends an open reasoning.
//
//codec:type reasoning-end
type ReasoningEnd TextStart

// ToolInputStart opens a tool call whose input streams.
//
//codec:type tool-input-start
type ToolInputStart struct {
	ToolCallID       string                     `codec:"toolCallId,required"`
	ToolName         string                     `codec:"toolName,required"`
	InputEncoding    string                     `codec:"inputEncoding,omitempty,nullable"`
	ProviderExecuted uimessage.Optional[bool]   `codec:"providerExecuted"`
	ProviderMetadata json.RawMessage            `codec:"providerMetadata"`
	ToolMetadata     json.RawMessage            `codec:"toolMetadata"`
	Dynamic          uimessage.Optional[bool]   `codec:"dynamic"`
	Title            uimessage.Optional[string] `codec:"title"`
	Extra            []uimessage.Member
}

// ToolInputDelta is more of a streaming input.
//
//codec:type tool-input-delta
type ToolInputDelta struct {
	ToolCallID string `codec:"toolCallId,required"`
	Delta      string `codec:"inputTextDelta,required"`
	Extra      []uimessage.Member
}

// ToolInputAvailable is a tool call with its whole input.
//
//codec:type tool-input-available
type ToolInputAvailable struct {
	ToolCallID       string                     `codec:"toolCallId,required"`
	ToolName         string                     `codec:"toolName,required"`
	Input            json.RawMessage            `codec:"input"`
	ProviderExecuted uimessage.Optional[bool]   `codec:"providerExecuted"`
	ProviderMetadata json.RawMessage            `codec:"providerMetadata"`
	ToolMetadata     json.RawMessage            `codec:"toolMetadata"`
	Dynamic          uimessage.Optional[bool]   `codec:"dynamic"`
	Title            uimessage.Optional[string] `codec:"title"`
	Extra            []uimessage.Member
}

// ToolInputError is a tool call whose input is invalid.
//
//codec:type tool-input-error
type ToolInputError struct {
	ToolCallID       string                     `codec:"toolCallId,required"`
	ToolName         string                     `codec:"toolName,required"`
	Input            json.RawMessage            `codec:"input"`
	ProviderExecuted uimessage.Optional[bool]   `codec:"providerExecuted"`
	ProviderMetadata json.RawMessage            `codec:"providerMetadata"`
	ToolMetadata     json.RawMessage            `codec:"toolMetadata"`
	Dynamic          uimessage.Optional[bool]   `codec:"dynamic"`
	ErrorText        string                     `codec:"errorText,required"`
	Title            uimessage.Optional[string] `codec:"title"`
	Extra            []uimessage.Member
}

// ToolApprovalRequest asks for a person's decision on a tool call.
//
//codec:type tool-approval-request
type ToolApprovalRequest struct {
	ApprovalID       string                     `codec:"approvalId,required"`
	ToolCallID       string                     `codec:"toolCallId,required"`
	Descriptor       json.RawMessage            `codec:"approvalDescriptor"`
	InputSchemaInput json.RawMessage            `codec:"inputSchemaInput"`
	Signature        uimessage.Optional[string] `codec:"signature"`
	Extra            []uimessage.Member
}

// ToolOutputAvailable is a tool's result, or with Preliminary a first part of it.
//
//codec:type tool-output-available
type ToolOutputAvailable struct {
	ToolCallID       string                   `codec:"toolCallId,required"`
	Output           json.RawMessage          `codec:"output"`
	ProviderExecuted uimessage.Optional[bool] `codec:"providerExecuted"`
	ProviderMetadata json.RawMessage          `codec:"providerMetadata"`
	ToolMetadata     json.RawMessage          `codec:"toolMetadata"`
	Dynamic          uimessage.Optional[bool] `codec:"dynamic"`
	Preliminary      uimessage.Optional[bool] `codec:"preliminary"`
	Extra            []uimessage.Member
}

// ToolOutputError is a tool's failure.
//
//codec:type tool-output-error
type ToolOutputError struct {
	ToolCallID       string                   `codec:"toolCallId,required"`
	ErrorText        string                   `codec:"errorText,required"`
	ProviderExecuted uimessage.Optional[bool] `codec:"providerExecuted"`
	ProviderMetadata json.RawMessage          `codec:"providerMetadata"`
	ToolMetadata     json.RawMessage          `codec:"toolMetadata"`
	Dynamic          uimessage.Optional[bool] `codec:"dynamic"`
	Extra            []uimessage.Member
}

// ToolOutputDenied settles a call that a person refused.
//
//codec:type tool-output-denied
type ToolOutputDenied struct {
	ToolCallID string `codec:"toolCallId,required"`
	Extra      []uimessage.Member
}

// SourceURL is a link that the model used.
//
//codec:type source-url
type SourceURL struct {
	SourceID         string                     `codec:"sourceId,required"`
	URL              string                     `codec:"url,required"`
	Title            uimessage.Optional[string] `codec:"title"`
	ProviderMetadata json.RawMessage            `codec:"providerMetadata"`
	Extra            []uimessage.Member
}

// SourceDocument is a document that the model used.
//
//codec:type source-document
type SourceDocument struct {
	SourceID         string                     `codec:"sourceId,required"`
	MediaType        string                     `codec:"mediaType,required"`
	Title            string                     `codec:"title,required"`
	Filename         uimessage.Optional[string] `codec:"filename"`
	ProviderMetadata json.RawMessage            `codec:"providerMetadata"`
	Extra            []uimessage.Member
}

// File is a file the model made. The stream knows no file names.
//
//codec:type file
type File struct {
	URL              string          `codec:"url,required"`
	MediaType        string          `codec:"mediaType,required"`
	ProviderMetadata json.RawMessage `codec:"providerMetadata"`
	Extra            []uimessage.Member
}

// Data is an application's own chunk, of type `data-<Name>`. With the id of an
// earlier one it replaces that one's data; transient ones are not kept.
//
//codec:type
type Data struct {
	Name      string
	ID        uimessage.Optional[string] `codec:"id"`
	Data      json.RawMessage            `codec:"data"`
	Transient uimessage.Optional[bool]   `codec:"transient"`
	Extra     []uimessage.Member
}

// Unknown is a chunk of a type this package does not know, kept whole. It
// changes no message.
type Unknown struct {
	Name string
	Raw  json.RawMessage
}

const prefixData = "data-"

// Type implements [Chunk].
func (c Data) Type() string { return prefixData + c.Name }

// Type implements [Chunk].
func (c Unknown) Type() string { return c.Name }
