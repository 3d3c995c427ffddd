package platform

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Live is what the core offers to platforms whose readers follow a chat live: web, CLI and the HTTP
// API. It is safe for concurrent use.
type Live interface {
	Host
	// Watch follows a chat from now on: first the assistant message in progress, if any (Replay),
	// then everything as it happens. The channel is closed when ctx ends, when the chat's
	// activation ends, or when the reader falls more than 1 MiB behind. The reader may then watch
	// again.
	Watch(ctx context.Context, key messages.ChatKey) (<-chan Frame, error)
	// History returns the chat's history as the model would see it now. An assistant message in
	// progress is its last message (Running).
	History(ctx context.Context, key messages.ChatKey) (ChatView, error)
	// Stop ends the current run durably; it returns false if there is none. all also drops the
	// pending turns.
	Stop(ctx context.Context, key messages.ChatKey, by Person, all bool) (bool, error)
	// Rewind moves everything after message keep into an archive; an empty keep moves all messages.
	// It fails with ErrBusy during a run.
	Rewind(ctx context.Context, key messages.ChatKey, keep string) error
	// Decide submits a person's decisions on requests for approval, durably, and returns the
	// outcome of each. Repeating a decision changes nothing. The core judges whether the person may
	// decide; the platform establishes who they are.
	Decide(ctx context.Context, key messages.ChatKey, by Person, say []messages.Decision) ([]messages.DecisionOutcome, error)
}

// ChatView is a chat as a reader sees it.
type ChatView struct {
	Messages []uimessage.Message
	Waiting  []uimessage.Message // turns that no model has seen yet
	Running  bool
	// Counts covers all ingresses of the chat.
	Counts Counts
}

// Counts say how the ingresses of a chat ended.
type Counts struct {
	Accepted int64            `json:"accepted"`
	Open     int64            `json:"open"`
	Fates    map[string]int64 `json:"fates"`
	Pending  int64            `json:"outboxPending"`
}

// FrameKind classifies a frame.
type FrameKind string

// The kinds of frames.
const (
	// FrameStart: an assistant message begins; Sees lists the user turns that become visible to the
	// model with it.
	FrameStart FrameKind = "start"
	// FrameChunks: more of the message in progress.
	FrameChunks FrameKind = "chunks"
	// FrameEnd: the message is complete and durable. Settled lists the turns whose outcome it
	// decides.
	FrameEnd FrameKind = "end"
	// FrameSettled: turns ended without an assistant message (stopped, declined).
	FrameSettled FrameKind = "settled"
	// FrameEvent: a step event for timelines; see Event.
	FrameEvent FrameKind = "event"
)

// Frame is one piece of a chat's live stream. Readers over a connection get it as JSON, with their own encoding of the
// chunks.
type Frame struct {
	Kind      FrameKind        `json:"kind"`
	ChatKey   messages.ChatKey `json:"-"`
	RunID     string           `json:"runId,omitempty"`
	MessageID string           `json:"messageId,omitempty"`
	Sees      []string         `json:"sees,omitempty"`   // FrameStart
	Chunks    []uistream.Chunk `json:"-"`                // FrameStart (a replay), FrameChunks; read-only
	Replay    bool             `json:"replay,omitempty"` // the frame repeats what preceded the watch
	Last      bool             `json:"last,omitempty"`   // FrameEnd: the run ended with this message
	Result    string           `json:"result,omitempty"` // FrameEnd with Last: done, waiting, stopped, failed, interrupted
	Settled   []string         `json:"settled,omitempty"`
	Event     Event            `json:"event,omitzero"` // FrameEvent
}

// Event is one line of a run's timeline.
type Event struct {
	// Name is assistant, tool_summary, step_finish, merge, compaction, done, or approval, whose Text says how a
	// request for approval ended.
	Name string `json:"name"`
	Step int    `json:"step,omitempty"`
	Text string `json:"text,omitempty"` // at most 500 characters
}
