// Package model is the contract with language models: a request goes out, a
// stream of events comes back. Implementations are one level deeper.
//
// The events are the stream parts of the AI SDK's language model specification
// V3 (as its 6.0.326 release emits them), so that one step engine serves every
// provider. A stream that ends without [EventFinish] was cut off: it may be
// asked again, and nothing of it may be stored as final. An implementation that
// is told to follow the SDK to the letter yields [EventError] and a finish reason
// "error" instead; both mean the same.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Model asks one language model. Implementations are safe for concurrent use.
type Model interface {
	// Stream sends one request and yields the answer's events in order. The
	// sequence can be consumed once. Before the first event it does all waiting
	// and retrying that its errors allow; once an event was yielded it never
	// retries by itself. An error ends the sequence and is an [*Error] unless
	// ctx ended (then ctx's cause). Breaking off the loop closes the stream.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is one model call. It is read-only for the model.
type Request struct {
	// ID correlates the call with logs; the model never sees it.
	ID       string
	System   string
	Messages []modelmessage.Message
	Tools    []ToolSpec
	// ToolChoice is auto (empty), none, required, or a tool's name after "tool:".
	ToolChoice      string
	MaxOutputTokens int // 0: the model's own default
	// Memo, if not nil, lets the model keep work from one request of a chat to the
	// next. It changes nothing but the time a request takes.
	Memo *Memo
}

// Memo holds what a model keeps between the growing requests of one chat, such as
// the encoded form of the messages sent so far. Keep one per run (or chat), hand
// it over with each request, and drop it to free its memory. The zero value is
// ready. A memo may be given to any model at any time: one that does not find its
// own work there starts anew.
type Memo struct {
	held atomic.Pointer[any]
}

// Take removes and returns what is kept, nil if there is nothing; a request under
// way at the same time finds the memo empty.
func (m *Memo) Take() any {
	if m == nil {
		return nil
	}
	if held := m.held.Swap(nil); held != nil {
		return *held
	}
	return nil
}

// Keep replaces what is kept.
func (m *Memo) Keep(v any) {
	if m != nil {
		m.held.Store(&v)
	}
}

// ToolSpec offers a tool to the model. Order is kept, so that prompts stay
// cacheable.
type ToolSpec struct {
	Name        string // matches ^[a-zA-Z0-9_-]{1,64}$
	Description string
	InputSchema json.RawMessage // a JSON Schema of type object
}

// EventKind names a stream part.
type EventKind string

// The stream parts of the specification that occur here.
const (
	EventStreamStart      EventKind = "stream-start"
	EventResponseMetadata EventKind = "response-metadata"
	EventTextStart        EventKind = "text-start"
	EventTextDelta        EventKind = "text-delta"
	EventTextEnd          EventKind = "text-end"
	EventReasoningStart   EventKind = "reasoning-start"
	EventReasoningDelta   EventKind = "reasoning-delta"
	EventReasoningEnd     EventKind = "reasoning-end"
	EventToolInputStart   EventKind = "tool-input-start"
	EventToolInputDelta   EventKind = "tool-input-delta"
	EventToolInputEnd     EventKind = "tool-input-end"
	EventToolCall         EventKind = "tool-call"
	EventToolResult       EventKind = "tool-result"
	EventToolApproval     EventKind = "tool-approval-request"
	EventFile             EventKind = "file"
	EventSource           EventKind = "source"
	EventError            EventKind = "error"
	EventRaw              EventKind = "raw"
	EventFinish           EventKind = "finish"
)

// Event is one stream part. Which members are set depends on Kind.
type Event struct {
	Kind EventKind

	ID    string // of the text or reasoning block, or of the tool call
	Delta string

	ToolName         string
	Input            string // EventToolCall: JSON text as the model wrote it
	Dynamic          bool
	ProviderExecuted bool
	Title            string

	Finish FinishReason
	Usage  Usage

	// ProviderMetadata is kept beside the part it came with.
	ProviderMetadata json.RawMessage
	// Raw holds what has no member of its own, JSON of the specification's form:
	// files, sources, provider results, errors inside the stream as they came, and
	// the response metadata {id?, modelId?, timestamp?}.
	Raw json.RawMessage
	// Err is the error of EventError.
	Err error
}

// FinishReason says why the model ended.
type FinishReason struct {
	Unified string // stop, length, content-filter, tool-calls, error, other
	Raw     string // the provider's word
}

// FinishRefusal is the provider's word in a [FinishReason] content-filter whose answer
// is the model's own refusal.
const FinishRefusal = "refusal"

// Usage counts tokens; a nil member was not reported.
type Usage struct {
	InputTokens       *int64 `json:"inputTokens,omitempty"`
	CachedInputTokens *int64 `json:"cachedInputTokens,omitempty"`
	OutputTokens      *int64 `json:"outputTokens,omitempty"`
	ReasoningTokens   *int64 `json:"reasoningTokens,omitempty"`
	// Raw is the provider's usage object as it came.
	Raw json.RawMessage `json:"-"`
}
