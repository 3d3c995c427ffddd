package journal

import (
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Record is one journal line: a fact with its number and time.
type Record struct {
	N    int64 // 1, 2, 3 … in a chat, never given twice
	TS   int64 // unix milliseconds
	Fact Fact
}

// Fact is something that happened in a chat and must not be forgotten.
//
//sumtype:decl
type Fact interface{ kind() string }

// Fate is how an ingress ended; see [uimessage.Fate].
type Fate = uimessage.Fate

// Every ingress ends in exactly one of these.
const (
	FateAnswered = uimessage.FateAnswered // by the model or by the host; a failure ends as answered with a notice
	FateMerged   = uimessage.FateMerged   // became visible to a run under way, from a step on
	FateIgnored  = uimessage.FateIgnored  // by the gate, with its reason
	FateDeclined = uimessage.FateDeclined // lane full, chat parked, refused people
	FateStopped  = uimessage.FateStopped  // a person dropped it
	FateExpired  = uimessage.FateExpired
)

// Settled is the fate of one turn.
type Settled struct {
	TurnID string `json:"id"`
	Fate   Fate   `json:"fate"`
	RunID  string `json:"runId,omitempty"`
	Step   int    `json:"step,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// TurnAccepted says: a user turn is durable and waits. A turn accepted by an idle
// chat with an empty journal needs no such fact: it goes straight to the history.
type TurnAccepted struct {
	Turn uimessage.Message `json:"turn"`
}

// TurnReplaced says: a turn that no model has read yet, or the last message of the
// history, was replaced by one with the same id. Ingress is the edit that did
// it, settled as merged; nil when none did.
type TurnReplaced struct {
	Turn    uimessage.Message `json:"turn"`
	Ingress *Ingress          `json:"ingress,omitempty"`
}

// IngressSettled says: an ingress that makes no turn ended at once: ignored,
// declined, or answered by the host.
type IngressSettled struct {
	Ingress Ingress `json:"ingress"`
	Fate    Fate    `json:"fate"`
	Reason  string  `json:"reason,omitempty"`
	Rows    []Row   `json:"rows,omitempty"` // the host's answer
	// Shows are the requests that an answer shows which no row brings.
	Shows []string `json:"shows,omitempty"`
}

// TurnsSettled says: waiting turns ended without a run, for example stopped.
type TurnsSettled struct {
	Fates []Settled `json:"fates"`
	Rows  []Row     `json:"rows,omitempty"`
}

// Ingress is what the ledger keeps of an ingress without a turn.
type Ingress struct {
	ID        string `json:"id"`
	Seq       int64  `json:"seq"` // its arrival number
	MessageID string `json:"messageId,omitempty"`
	UserID    string `json:"userId,omitempty"`
	Username  string `json:"username,omitempty"`
	Text      string `json:"text,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	// Depth is that of a bot that was declined, so that it is known on the next one.
	Depth int64 `json:"depth,omitempty"`
}

// RunStarted says: a run begins; all waiting turns are visible to it.
type RunStarted struct {
	RunID     string `json:"runId"`
	MessageID string `json:"messageId"` // of its first assistant message
	RequestID string `json:"requestId"`
	Attempt   int    `json:"attempt"` // 1, more after crashes
}

// StepResponded says: the model's whole response of a step, before any of its calls
// starts. Its calls are the intents of their effects.
type StepResponded struct {
	RunID     string           `json:"runId"`
	MessageID string           `json:"messageId"`
	Step      int              `json:"step"`
	From      int              `json:"from"` // index of the first of Parts in the message
	Parts     []uimessage.Part `json:"-"`    // see the codec
	Tokens    int64            `json:"tokens,omitempty"`
	// Shown is what people see of the calls that ask.
	Shown []Shown `json:"shown,omitempty"`
}

// ToolStarted says: a call that is not safe to repeat is about to begin.
type ToolStarted struct {
	RunID  string `json:"runId"`
	CallID string `json:"callId"`
}

// ToolFinished says: the outcome of a call, as the new state of its part.
type ToolFinished struct {
	RunID     string         `json:"runId"`
	MessageID string         `json:"messageId"`
	Part      uimessage.Part `json:"-"`
	Final     bool           `json:"final,omitempty"`
	// Switch is the order to go on in another context; see [State.Switching].
	Switch messages.ContextSwitch `json:"switch,omitzero"`
	// Skill is the order to load a skill or to put it away; see [State.Pins].
	Skill messages.SkillOrder `json:"skill,omitzero"`
}

// TurnsMerged says: at a step boundary the assistant message so far was closed, the
// waiting turns became visible, and the run goes on in a new message.
type TurnsMerged struct {
	RunID     string            `json:"runId"`
	Step      int               `json:"step"` // the first step that sees them
	Closed    uimessage.Message `json:"closed"`
	Turns     []string          `json:"turns"`
	MessageID string            `json:"messageId"`
	Rows      []Row             `json:"rows,omitempty"` // what the closed message owes
}

// RunFinished says: a run ended. Message is its last assistant message, complete;
// its metadata carries the result and the fates.
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
	ResultRewound     Result = "rewound"     // no run: the answers that were here are archived
	ResultSwitching   Result = "switching"   // to go on in another context, which is to be made
	ResultSwitched    Result = "switched"    // the context is there, and the next run goes on
)

// StopRequested says: somebody stopped the run; durable before it acts.
type StopRequested struct {
	RunID     string `json:"runId"`
	By        string `json:"by,omitempty"`
	RequestID string `json:"requestId,omitempty"`
}

// EgressQueued says: a row of the outbox that belongs to a run under way.
type EgressQueued struct {
	Row Row `json:"row"`
}

// EgressSent says: one part of a row is with the platform. A draft is a placeholder
// that the first part will replace by an edit.
type EgressSent struct {
	Key       RowKey `json:"key"`
	Part      int    `json:"part"`
	MessageID string `json:"messageId"`
	Order     int64  `json:"order,omitempty"` // see [messages.Receipt]
	Draft     bool   `json:"draft,omitempty"`
}

// EgressSettled says: a row needs no more sending: delivered, or parked until a
// person retries or drops it.
type EgressSettled struct {
	Key      RowKey   `json:"key"`
	Outcome  string   `json:"outcome"` // delivered, parked, dropped
	Reason   string   `json:"reason,omitempty"`
	Receipts []string `json:"receipts,omitempty"`
	Orders   []int64  `json:"orders,omitempty"` // of the receipts; none: not known
	Maybe    bool     `json:"maybe,omitempty"`
	Tries    int      `json:"tries,omitempty"` // sends of a parked row that failed
	By       string   `json:"by,omitempty"`    // who dropped it
}

// EgressRetried says: a person wants a parked row to be sent after all.
type EgressRetried struct {
	Key RowKey `json:"key"`
	By  string `json:"by,omitempty"`
}

// Stumbled says: the chat panicked. It names what it worked on: the run under way,
// or an ingress that was not durable yet.
type Stumbled struct {
	RunID     string `json:"runId,omitempty"`
	IngressID string `json:"ingressId,omitempty"`
}

// TurnParked says: a user turn that the chat could not survive is put aside, until
// a person retries or drops it. Ingress is set when it never became a turn: it ends as
// declined here. Otherwise the finish of its run settles it, and a placeholder
// stands in its place in the history.
type TurnParked struct {
	Turn    uimessage.Message `json:"turn"`
	Ingress *Ingress          `json:"ingress,omitempty"`
	Rows    []Row             `json:"rows,omitempty"` // a notice
	// Kept: a fold carried it over; all but the keeping has happened before.
	Kept bool `json:"kept,omitempty"`
}

// TurnUnparked says: a person retried or dropped a turn that was put aside. When it
// was retried, Turn is the turn that it became, accepted as if it had just come.
type TurnUnparked struct {
	TurnID  string             `json:"turnId"`
	Outcome string             `json:"outcome"` // retried, dropped
	By      string             `json:"by,omitempty"`
	Turn    *uimessage.Message `json:"turn,omitempty"`
}

// The outcomes of rows.
const (
	EgressDelivered = "delivered"
	EgressParked    = "parked"
	EgressDropped   = "dropped"
)

// ParkRetried and [EgressDropped] are the outcomes of turns that were put aside.
const ParkRetried = "retried"

// ReasonParked is the reason of the fate of a turn that was put aside.
const ReasonParked = "parked"

// RowKey names an outbox row within a chat: the n-th egress of an assistant message.
type RowKey struct {
	MessageID string `json:"messageId"`
	N         int    `json:"n"`
}

// Row is one egress: a text in Markdown that is owed to the chat's people.
type Row struct {
	Key       RowKey `json:"key"`
	RunID     string `json:"runId,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	CallID    string `json:"callId,omitempty"` // of the tool call that asked for it
	// Open: a draft is shown, the text is still being written. A later row of the
	// same key brings it.
	Open        bool         `json:"open,omitempty"`
	Text        string       `json:"text,omitempty"`
	ReplyTo     string       `json:"replyTo,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Asks are the requests that people can answer by buttons below the text.
	Asks []Ask `json:"asks,omitempty"`
	// Shows are the ids of the requests that the text shows whole, in this order.
	Shows []string `json:"shows,omitempty"`
	// Depth counts the bots behind it, one answering the other; see [State.Depth].
	Depth int64 `json:"depth,omitempty"`
	// Seq is the arrival number of the newest ingress when a row with a depth came.
	Seq int64 `json:"seq,omitempty"`
}

// Ask is a request that a row asks about, or a button that gives an order.
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

func (TurnAccepted) kind() string   { return "turn" }
func (TurnReplaced) kind() string   { return "replace" }
func (IngressSettled) kind() string { return "ingress" }
func (TurnsSettled) kind() string   { return "settle" }
func (RunStarted) kind() string     { return "run" }
func (StepResponded) kind() string  { return "step" }
func (ToolStarted) kind() string    { return "call" }
func (ToolFinished) kind() string   { return "tool" }
func (TurnsMerged) kind() string    { return "merge" }
func (RunFinished) kind() string    { return "finish" }
func (StopRequested) kind() string  { return "stop" }
func (EgressQueued) kind() string   { return "egress" }
func (EgressSent) kind() string     { return "sent" }
func (EgressSettled) kind() string  { return "settled" }
func (EgressRetried) kind() string  { return "retry" }
func (Stumbled) kind() string       { return "stumble" }
func (TurnParked) kind() string     { return "park" }
func (TurnUnparked) kind() string   { return "unpark" }
