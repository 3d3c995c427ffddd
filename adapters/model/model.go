// Package model is the contract with language models: a request goes out, a stream of events comes
// back. Implementations live one directory deeper.
//
// The events are the stream parts of the AI SDK's language model specification V3 (as emitted by
// its release 6.0.326), so that one step engine serves every provider. A stream without
// [EventFinish] was cut off: the request may be repeated, and nothing of the stream may be stored
// as final. An implementation configured to follow the SDK exactly instead yields [EventError] and
// a finish reason "error"; both mean the same.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Model sends requests to one language model. Implementations are safe for concurrent use.
type Model interface {
	// Stream sends one request and yields the events of the answer in order. The sequence can be
	// consumed once. All waiting and retrying happens before the first event; after that it never
	// retries. An error ends the sequence and is an [*Error] unless ctx ended (then ctx's cause).
	// Breaking out of the loop closes the stream.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is one model call. It is read-only for the model.
type Request struct {
	// ID correlates the call with logs; the model never sees it.
	ID string
	// Model is the name of the model to ask, for a [Model] that is a group of several; others ignore it.
	// An unknown name means the main model.
	Model string
	// Effort is how much the model thinks, as the word for it in the settings of the model. Without a
	// word, and with one that the model is not known to take, its settings decide.
	Effort   string
	System   string
	Messages []modelmessage.Message
	Tools    []ToolSpec
	// ToolChoice is auto (empty), none, required, or a tool's name after "tool:".
	ToolChoice      string
	MaxOutputTokens int // 0 means the model's own default
	// Payer says on whose account the call is; the model never sees it.
	Payer Payer `json:"-"`
	// Memo, if not nil, lets the model reuse work between the requests of a chat. It affects
	// nothing but the duration.
	Memo *Memo
}

// Payer is on whose account a call is.
type Payer struct {
	Chat messages.ChatKey
	// Person is who is charged, as from [messages.PersonKey]. Work that no person asked for has none.
	Person string
	Run    string // of a chat; empty for other work
	Work   Work
}

// Work is a kind of work that calls models.
type Work string

// The kinds of work.
const (
	WorkRun        Work = "run"
	WorkCompaction Work = "compaction"
	WorkMemory     Work = "memory"
	WorkEmbed      Work = "embed" // texts become vectors
)

// The values of [Request.Model] that have a purpose. Vision is asked for a request of any model that
// takes no pictures, if people have just sent one.
const (
	Vision  = "vision"
	Summary = "summary" // of a long chat
	Memory  = "memory"  // what is remembered
)

// Memo holds what a model reuses between the growing requests of one chat, such as the encoded form
// of the messages sent so far. Keep one per run (or chat), pass it with each request, and drop it
// to free its memory. The zero value is ready for use. A memo may be passed to any model at any
// time: a model that does not find its own data there starts over.
type Memo struct {
	held atomic.Pointer[any]
}

// Take removes and returns what is kept, or nil. Concurrent requests find the memo empty.
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

// Rester is what a memo may hold to be smaller while its chat is idle.
type Rester interface {
	// Rest returns what replaces it.
	Rest() any
}

// Rest frees most of the memo's memory. The next request costs what the first one did.
func (m *Memo) Rest() {
	held := m.Take()
	if r, ok := held.(Rester); ok {
		held = r.Rest()
	}
	if held != nil {
		m.Keep(held)
	}
}

// ToolSpec offers a tool to the model. The order is kept, so that prompts remain cacheable.
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
	// EventCheaper precedes an answer of a cheaper model, with the name ID, because of the spending limit Delta. It
	// is no part of the specification.
	EventCheaper EventKind = "cheaper"
	EventFinish  EventKind = "finish"
)

// Event is one stream part. Which fields are set depends on Kind.
type Event struct {
	Kind EventKind

	ID    string // of the text or reasoning block, or of the tool call; see [EventCheaper]
	Delta string

	ToolName         string
	Input            string // EventToolCall: JSON text as the model wrote it
	Dynamic          bool
	ProviderExecuted bool

	Finish FinishReason
	Usage  Usage

	// ProviderMetadata is stored with the part it belongs to.
	ProviderMetadata json.RawMessage
	// Raw holds what has no field of its own, as JSON of the specification: files, sources,
	// provider results, unchanged errors inside the stream, and the response metadata {id?,
	// modelId?, timestamp?}.
	Raw json.RawMessage
	// Err is the error of EventError.
	Err error
}

// FinishReason says why the model stopped.
type FinishReason struct {
	Unified string // stop, length, content-filter, tool-calls, error, other
	Raw     string // as the provider named it
}

// FinishRefusal is the Raw value of a [FinishReason] content-filter if the answer is the model's
// own refusal.
const FinishRefusal = "own-refusal"

// Usage counts tokens; a nil field was not reported.
type Usage struct {
	InputTokens       *int64 `json:"inputTokens,omitempty"`
	CachedInputTokens *int64 `json:"cachedInputTokens,omitempty"` // of the input: read from the provider's cache
	CacheWriteTokens  *int64 `json:"cacheWriteTokens,omitempty"`  // of the input: written to it
	OutputTokens      *int64 `json:"outputTokens,omitempty"`
	ReasoningTokens   *int64 `json:"reasoningTokens,omitempty"`
	// Raw is the provider's usage object, unchanged.
	Raw json.RawMessage `json:"-"`
}
