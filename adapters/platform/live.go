package platform

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Live is what the core offers to platforms whose readers follow a chat as it
// happens: web, CLI and the HTTP API. It is safe for concurrent use.
type Live interface {
	Host
	// Watch follows a chat from now on: first the assistant message under way, if
	// there is one (Replay), then everything as it comes. The channel is closed
	// when ctx ends, when the chat's activation ends, or when the reader is too
	// slow (more than 1 MiB behind); the reader then may watch again.
	Watch(ctx context.Context, key messages.ChatKey) (<-chan Frame, error)
	// History is the chat's history as the model would see it now, with the
	// assistant message under way, if any, as its last message (Running).
	History(ctx context.Context, key messages.ChatKey) (ChatView, error)
	// Stop ends the run under way, durably; false when none is. all also drops
	// the waiting turns.
	Stop(ctx context.Context, key messages.ChatKey, by Person, all bool) (bool, error)
	// Rewind cuts the history behind a message (keep: the last id that stays;
	// empty: nothing stays) into an archive. It fails with ErrBusy during a run.
	Rewind(ctx context.Context, key messages.ChatKey, keep string) error
	// Decide brings a person's decisions on requests for approval, durably, and
	// says what became of each. Making a decision again changes nothing. Whether
	// the person may decide is the core's to judge; who they are, the platform's.
	Decide(ctx context.Context, key messages.ChatKey, by Person, say []messages.Decision) ([]messages.DecisionOutcome, error)
}

// ChatView is a chat as a reader sees it.
type ChatView struct {
	Messages []uimessage.Message
	Waiting  []uimessage.Message // turns that no model has seen yet
	Running  bool
	// Outcome is set when a run ended without an answer people can see.
	Counts Counts
}

// Counts say how the ingresses of a chat ended.
type Counts struct {
	Accepted int64            `json:"accepted"`
	Open     int64            `json:"open"`
	Fates    map[string]int64 `json:"fates"`
	Pending  int64            `json:"outboxPending"`
}

// FrameKind says what a frame tells.
type FrameKind string

// The kinds of frames.
const (
	// FrameStart: an assistant message begins; Sees are the user turns that
	// become visible to the model with it.
	FrameStart FrameKind = "start"
	// FrameChunks: more of the message under way.
	FrameChunks FrameKind = "chunks"
	// FrameEnd: the message is complete and durable. Settled are the turns whose fate it decides.
	FrameEnd FrameKind = "end"
	// FrameSettled: turns ended without an assistant message (stopped, declined).
	FrameSettled FrameKind = "settled"
	// FrameEvent: a step event for timelines: assistant, tool_summary, step_finish, merge, compaction, done.
	FrameEvent FrameKind = "event"
)

// Frame is one piece of a chat as it happens.
type Frame struct {
	Kind      FrameKind
	ChatKey   messages.ChatKey
	RunID     string
	MessageID string
	Sees      []string         // FrameStart
	Chunks    []uistream.Chunk // FrameStart (a replay), FrameChunks; read-only
	Replay    bool             // the frame repeats what was before the watch began
	Last      bool             // FrameEnd: the run ended with it
	Result    string           // FrameEnd with Last: done, waiting, stopped, failed, interrupted
	Settled   []string
	Event     Event // FrameEvent
}

// Event is one line of a run's timeline.
type Event struct {
	Name string // assistant, tool_summary, step_finish, merge, compaction, done
	Step int
	Text string // at most 500 characters
}
