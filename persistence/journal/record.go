package journal

import (
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Record is a line of the journal: a fact with its number and time.
type Record struct {
	N    int64 // 1, 2, 3 … in each chat, never reused
	TS   int64 // unix milliseconds
	Fact Fact
}

// Fact is something that happened in a chat and must be durable.
//
//sumtype:decl
type Fact interface{ kind() string }

// Fate is how an ingress ended; see [uimessage.Fate].
type Fate = uimessage.Fate

// Every ingress ends with exactly one of these fates.
const (
	FateAnswered = uimessage.FateAnswered // by the model or by the host; a failure ends as answered with a notice
	FateMerged   = uimessage.FateMerged   // became visible to a run in progress, from one of its steps on
	FateIgnored  = uimessage.FateIgnored  // by the gate, for a reason
	FateDeclined = uimessage.FateDeclined // lane full, message quarantined, no access
	FateStopped  = uimessage.FateStopped  // stopped by a person
)

// Settled is the fate of one turn.
type Settled struct {
	TurnID string `json:"id"`
	Fate   Fate   `json:"fate"`
	RunID  string `json:"runId,omitempty"`
	Step   int    `json:"step,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// TurnAccepted records that a user turn is durable and queued. A turn accepted by an idle chat with an empty journal
// needs no fact: it is appended to the history directly.
type TurnAccepted struct {
	Turn uimessage.Message `json:"turn"`
}

// TurnReplaced records that a turn that no model has read, or the last message of the history, was replaced with one
// of the same id. Ingress is the edit that replaced it, which ends as merged. It is nil if the turn was not edited.
type TurnReplaced struct {
	Turn    uimessage.Message `json:"turn"`
	Ingress *Ingress          `json:"ingress,omitempty"`
}

// IngressSettled records that an ingress that becomes no turn has ended: ignored, declined, or answered by the host.
type IngressSettled struct {
	Ingress Ingress `json:"ingress"`
	Fate    Fate    `json:"fate"`
	Reason  string  `json:"reason,omitempty"`
	Rows    []Row   `json:"rows,omitempty"` // the host's answer
	// Shows are the requests that the answer shows to readers of a chat without an outbox.
	Shows []string `json:"shows,omitempty"`
}

// TurnsSettled records that queued turns ended without a run, for example stopped.
type TurnsSettled struct {
	Fates []Settled `json:"fates"`
	Rows  []Row     `json:"rows,omitempty"`
}

// Ingress is what the ledger keeps of an ingress that became no turn.
type Ingress struct {
	ID        string `json:"id"`
	Seq       int64  `json:"seq"` // its arrival number
	MessageID string `json:"messageId,omitempty"`
	UserID    string `json:"userId,omitempty"`
	Username  string `json:"username,omitempty"`
	Text      string `json:"text,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	// Depth is set for a declined bot, so that its next message is recognized; see [State.Depth].
	Depth int64 `json:"depth,omitempty"`
}

// RunStarted records the start of a run, to which all queued turns are visible.
type RunStarted struct {
	RunID     string `json:"runId"`
	MessageID string `json:"messageId"` // of its first assistant message
	RequestID string `json:"requestId"`
	Attempt   int    `json:"attempt"` // 1, more after crashes
}

// StepResponded records the complete response of the model in a step, before any of its calls begin.
type StepResponded struct {
	RunID     string `json:"runId"`
	MessageID string `json:"messageId"`
	Step      int    `json:"step"`
	From      int    `json:"from"` // index of the first of Parts in the message
	Tokens    int64  `json:"tokens,omitempty"`
	// Shown is what people see of the calls that ask.
	Shown []Shown `json:"shown,omitempty"`
	Parts parts   `json:"parts"` // a []uimessage.Part
}

// ToolStarted records that a call that is not safe to repeat is about to begin.
type ToolStarted struct {
	RunID  string `json:"runId"`
	CallID string `json:"callId"`
}

// ToolFinished records the outcome of a call as the new state of its part.
type ToolFinished struct {
	RunID     string         `json:"runId"`
	MessageID string         `json:"messageId"`
	Part      uimessage.Part `json:"-"`
	Final     bool           `json:"final,omitempty"`
	// Switch is an order to continue in another context; see [State.Switching].
	Switch messages.ContextSwitch `json:"switch,omitzero"`
	// Skill is an order to load or unload a skill; see [State.Pins].
	Skill messages.SkillOrder `json:"skill,omitzero"`
}

// TurnsMerged records that, at a step boundary, the assistant message so far was closed, the queued turns became
// visible, and the run continues in a new message.
type TurnsMerged struct {
	RunID     string            `json:"runId"`
	Step      int               `json:"step"` // first step that sees the turns
	Closed    uimessage.Message `json:"closed"`
	Turns     []string          `json:"turns"`
	MessageID string            `json:"messageId"`
	Rows      []Row             `json:"rows,omitempty"` // outbox rows of the closed message
}

// RunFinished records the end of a run. Message is its last assistant message in its final form; its metadata contains
// the result and the fates.
type RunFinished struct {
	RunID   string            `json:"runId"`
	Message uimessage.Message `json:"message"`
	Result  Result            `json:"result"`
	Reason  string            `json:"reason,omitempty"`
	Fates   []Settled         `json:"fates,omitempty"`
	Rows    []Row             `json:"rows,omitempty"`
}

// Result is how a run ended.
type Result string

// The results of runs.
const (
	ResultDone        Result = "done"
	ResultWaiting     Result = "waiting" // for an approval
	ResultStopped     Result = "stopped"
	ResultFailed      Result = "failed"
	ResultInterrupted Result = "interrupted" // by a crash, and not resumed
	ResultRewound     Result = "rewound"     // not a run: it closes a history whose answers are archived
	ResultSwitching   Result = "switching"   // the run continues in another context, which does not exist yet
	ResultSwitched    Result = "switched"    // the context exists, and the next run continues
)

// StopRequested records a person's request to stop the run. It is durable before the run is stopped.
type StopRequested struct {
	RunID     string `json:"runId"`
	By        string `json:"by,omitempty"`
	RequestID string `json:"requestId,omitempty"`
}

// EgressQueued records a new outbox row.
type EgressQueued struct {
	Row Row `json:"row"`
}

// EgressSent records that one part of a row was sent. A draft is a placeholder that the first part will replace by
// editing.
type EgressSent struct {
	Key       RowKey `json:"key"`
	Part      int    `json:"part"`
	MessageID string `json:"messageId"`
	Order     int64  `json:"order,omitempty"` // see [messages.Receipt]
	Draft     bool   `json:"draft,omitempty"`
}

// EgressSettled records that a row needs no more sending: it was delivered or dropped, or is parked until a person
// retries or drops it.
type EgressSettled struct {
	Key      RowKey   `json:"key"`
	Outcome  string   `json:"outcome"` // delivered, parked, dropped
	Reason   string   `json:"reason,omitempty"`
	Receipts []string `json:"receipts,omitempty"`
	Orders   []int64  `json:"orders,omitempty"` // of the receipts; empty if unknown
	Maybe    bool     `json:"maybe,omitempty"`
	Tries    int      `json:"tries,omitempty"` // failed attempts of a parked row
	By       string   `json:"by,omitempty"`    // who dropped it
}

// EgressRetried records that a person wants a parked row to be sent again.
type EgressRetried struct {
	Key RowKey `json:"key"`
	By  string `json:"by,omitempty"`
}

// Crashed records a crash of the chat. It names the run in progress, or the ingress that was not durable yet.
type Crashed struct {
	RunID     string `json:"runId,omitempty"`
	IngressID string `json:"ingressId,omitempty"`
}

// TurnQuarantined records that a user turn that repeatedly crashed the chat is quarantined until a person retries or drops
// it. If Ingress is set, the ingress never became a turn and ends as declined. Otherwise the end of its run settles
// it, and a placeholder replaces it in the history.
type TurnQuarantined struct {
	Turn    uimessage.Message `json:"turn"`
	Ingress *Ingress          `json:"ingress,omitempty"`
	Rows    []Row             `json:"rows,omitempty"` // a notice
	// Kept is set if a checkpoint carried the fact over. The fact then only keeps the turn.
	Kept bool `json:"kept,omitempty"`
}

// TurnReleased records that a person retried or dropped a quarantined turn. For a retry, Turn is the new turn, which
// is accepted as if it had just arrived.
type TurnReleased struct {
	TurnID  string             `json:"turnId"`
	Outcome string             `json:"outcome"` // retried, dropped
	By      string             `json:"by,omitempty"`
	Turn    *uimessage.Message `json:"turn,omitempty"`
}

// Outcomes of rows.
const (
	EgressDelivered = "delivered"
	EgressParked    = "parked"
	EgressDropped   = "dropped"
)

// ParkRetried and [EgressDropped] are the outcomes of quarantined turns.
const ParkRetried = "retried"

// ReasonQuarantined is the reason in the fate of a quarantined turn.
const ReasonQuarantined = "parked"

// RowKey identifies an outbox row within a chat: the n-th egress of an assistant message.
type RowKey struct {
	MessageID string `json:"messageId"`
	N         int    `json:"n"`
}

// Row is one egress: a text in Markdown that must be sent to the chat's people.
type Row struct {
	Key       RowKey `json:"key"`
	RunID     string `json:"runId,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	CallID    string `json:"callId,omitempty"` // id of the tool call that created it
	// Open is set while the text is still being written and only a draft is shown. A later row with the same key
	// contains the text.
	Open        bool         `json:"open,omitempty"`
	Text        string       `json:"text,omitempty"`
	ReplyTo     string       `json:"replyTo,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Asks are the requests for which the text has buttons.
	Asks []Ask `json:"asks,omitempty"`
	// Shows are the ids of the requests that the text shows in full, in this order.
	Shows []string `json:"shows,omitempty"`
	// Depth is the number of consecutive bot messages up to this one; see [State.Depth].
	Depth int64 `json:"depth,omitempty"`
	// Seq is the arrival number of the newest ingress when a row with a Depth was created.
	Seq int64 `json:"seq,omitempty"`
}

// Ask is a button of a row, for a request or for a command.
type Ask struct {
	N          int    `json:"n"`
	ApprovalID string `json:"approvalId"`
	Digest     string `json:"digest"` // of what people are shown
	Order      string `json:"order,omitempty"`
	Label      string `json:"label,omitempty"`
	Chinese    bool   `json:"zh,omitempty"`
}

// Attachment is a file that goes with a row.
type Attachment struct {
	Path    string `json:"path,omitempty"`
	FileID  string `json:"fileId,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Caption string `json:"caption,omitempty"`
	Spoken  string `json:"spoken,omitempty"`
}

func (TurnAccepted) kind() string    { return "turn" }
func (TurnReplaced) kind() string    { return "replace" }
func (IngressSettled) kind() string  { return "ingress" }
func (TurnsSettled) kind() string    { return "settle" }
func (RunStarted) kind() string      { return "run" }
func (StepResponded) kind() string   { return "step" }
func (ToolStarted) kind() string     { return "call" }
func (ToolFinished) kind() string    { return "tool" }
func (TurnsMerged) kind() string     { return "merge" }
func (RunFinished) kind() string     { return "finish" }
func (StopRequested) kind() string   { return "stop" }
func (EgressQueued) kind() string    { return "egress" }
func (EgressSent) kind() string      { return "sent" }
func (EgressSettled) kind() string   { return "settled" }
func (EgressRetried) kind() string   { return "retry" }
func (Crashed) kind() string         { return "stumble" }
func (TurnQuarantined) kind() string { return "park" }
func (TurnReleased) kind() string    { return "unpark" }
