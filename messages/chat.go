package messages

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// ToChat is everything that reaches a chat actor. All of it arrives through the chat's shard,
// except messages from the chat's own children.
//
//sumtype:decl
type ToChat interface{ toChat() }

// Addressed is a message that the router delivers to the chat of its key.
type Addressed interface{ key() ChatKey }

// KeyOf returns the chat that a message is for.
func KeyOf(msg Addressed) ChatKey { return msg.key() }

// Verdict is what the platform's access check decided about an ingress.
type Verdict string

// The verdicts.
const (
	VerdictOpen    Verdict = "open"    // becomes a turn
	VerdictIgnored Verdict = "ignored" // needs no further handling
	VerdictRefused Verdict = "refused" // declined, perhaps with a notice
	VerdictCommand Verdict = "command" // for the host
	// VerdictRecalled means that the sender recalled the message named by EditOf.
	VerdictRecalled Verdict = "taken_back"
)

// RecallID returns the ingress id of the recall of a message. A message whose recall is already
// known is not accepted.
func RecallID(ingressID string) string { return ingressID + "/taken-back" }

// AcceptIngress hands over one ingress. Sent by an adapter actor; answered to its sender with
// [IngressAccepted] or [IngressRejected] once the fact is durable. An ingress id that was handled
// before is answered as a duplicate and does nothing.
type AcceptIngress struct {
	ChatKey   ChatKey
	RequestID string
	IngressID string
	Verdict   Verdict
	Reason    string // why the access check decided so
	Notice    string // sent to the chat with a refusal; may be empty
	Asks      []Ask  // buttons that go with the notice
	// Turn is the user turn without its arrival number; for other verdicts it
	// carries only what the ledger keeps.
	Turn uimessage.Message
	// EditOf is the platform's id of the message that this one edits or recalls.
	EditOf string
	// Bot is set if the platform says that the sender is a bot.
	Bot bool
	// Forwarded is set if the text was written by another person or came through another bot. It
	// never counts as a decision.
	Forwarded bool
	// Decides is set if an ignored message still counts when it answers a pending request.
	Decides bool
	// Quote is set if an ignored message may be quoted when a person addresses the bot later.
	Quote bool
	// Order is the message's position in the platform's own order, or 0 if unknown. See [Receipt].
	Order int64
	// ToBot is set if the platform says that the message replies to one of the bot's own.
	ToBot bool
	// Elsewhere is set if the message replies to something outside this chat.
	Elsewhere bool
	// Overheard is set if the bot reads all messages of a group and this one does not address it.
	Overheard bool
	// Chinese is set if the sender's client or the service is in Chinese. It counts until somebody
	// has written words.
	Chinese bool
	// Command and Args are set for commands.
	Command, Args string
}

// IngressAccepted answers [AcceptIngress]: the ingress is durable and will end in exactly one fate.
type IngressAccepted struct {
	ChatKey   ChatKey
	RequestID string
	TurnID    string
	Duplicate bool
	// Declined says why the ingress became no turn. It is empty if it did, or if it needed none.
	Declined string
	// Answer is the host's answer to a command on a platform without an outbox, where the reader
	// cannot find it elsewhere.
	Answer string
}

// IngressRejected answers [AcceptIngress]: nothing was accepted; try again later.
type IngressRejected struct {
	ChatKey   ChatKey
	RequestID string
	Reason    string
}

// StopRun stops the current run, durably. Answered with [RunStopped].
type StopRun struct {
	ChatKey   ChatKey
	RequestID string
	By        string
	All       bool // queued turns are dropped as stopped
}

// RunStopped answers [StopRun].
type RunStopped struct {
	ChatKey ChatKey
	Was     bool   // a run was in progress
	Err     string // the stop could not be made durable
}

// WatchChat makes the chat send [ChatProgressed] with this id to the sender. The first one repeats
// the message in progress, if any.
type WatchChat struct {
	ChatKey ChatKey
	WatchID string
}

// UnwatchChat ends a watch. Unknown ids do nothing.
type UnwatchChat struct {
	ChatKey ChatKey
	WatchID string
}

// ViewQuery asks for the chat as a reader sees it. Answered with [ViewReply].
type ViewQuery struct{ ChatKey ChatKey }

// ViewReply answers [ViewQuery].
type ViewReply struct {
	ChatKey  ChatKey
	Messages []uimessage.Message
	Waiting  []uimessage.Message
	Running  bool
	Accepted int64
	Open     int64
	Fates    map[string]int64
	Pending  int64
	// Model and Effort are what people chose for the chat with the command model, or empty.
	Model, Effort string
	Err           string
}

// RewindChat archives the history after a message. Answered with [ChatRewound].
type RewindChat struct {
	ChatKey ChatKey
	Keep    string // id of the last message to keep; if empty, none is kept
}

// ChatRewound answers [RewindChat].
type ChatRewound struct {
	ChatKey ChatKey
	Reason  string // busy, not_found, or another reason; empty on success
}

// DecideApproval carries a person's decisions about calls that need approval, each by the id of its
// request. Sent by an adapter on behalf of a person who may decide in the chat; answered with
// [ApprovalDecided] once all decisions are durable. A repeated decision is answered as already
// made.
type DecideApproval struct {
	ChatKey   ChatKey
	RequestID string
	By        Asker
	Say       []Decision
	// Wait is how long the person can wait for an answer; 0 means no limit.
	Wait time.Duration
}

// Decision is what a person decided about one request.
type Decision struct {
	ApprovalID string
	Approved   bool
	Reason     string // may be empty
	// Digest identifies the request as the person saw it; it is empty if unknown.
	Digest string
}

// ApprovalDecided answers [DecideApproval], with one outcome for each decision.
type ApprovalDecided struct {
	ChatKey  ChatKey
	Outcomes []DecisionOutcome
	Err      string // nothing was decided; try again later
}

// DecisionOutcome is the outcome of a decision.
type DecisionOutcome struct {
	ApprovalID string
	Is         DecisionState
	MessageID  string // the message with the request
	// Late is set if the outcome appears in a message of its own, not in the one with the request.
	Late bool
	// By and Answer are who decided before, as <platform>-<userId>, and the result. ByName is that
	// person's display name.
	By, ByName, Answer string
}

// DecisionState says whether a decision counts.
type DecisionState string

// What becomes of decisions. Only the first one about a request counts.
const (
	DecisionDone      DecisionState = "done"
	DecisionAlready   DecisionState = "already"   // it was already decided
	DecisionExpired   DecisionState = "expired"   // too late
	DecisionUnknown   DecisionState = "unknown"   // there is no such request
	DecisionForbidden DecisionState = "forbidden" // this person may not decide here
	DecisionUnseen    DecisionState = "unseen"    // the request was not completely shown yet, and stays open
)

// WakeChat makes a chat load and resume unfinished work. Sent at start.
type WakeChat struct{ ChatKey ChatKey }

// EgressProgressed reports that one part of a row was delivered. Sent by an adapter actor; it may
// be sent twice and is answered with [EgressKept].
type EgressProgressed struct {
	ChatKey ChatKey
	Row     RowID
	Part    int
	Receipt Receipt
	Draft   bool
}

// EgressDelivered reports that all parts of a row were delivered. It may be sent twice and is
// answered with [EgressKept].
type EgressDelivered struct {
	ChatKey  ChatKey
	Row      RowID
	Receipts []Receipt
	Maybe    bool // a send without a response was repeated: people may see it twice
}

// EgressFailed reports that the platform refused a row permanently, or that retries are exhausted.
type EgressFailed struct {
	ChatKey ChatKey
	Row     RowID
	Reason  string
	Tries   int  // sends that failed; 0 if unknown
	Maybe   bool // a send ended without a response: people may have received it
}

// RowID names an outbox row within a chat.
type RowID struct {
	MessageID string
	N         int
}

// RunProgressed carries more chunks of the current step. Sent by the run, coalesced.
type RunProgressed struct {
	RunID  string
	Chunks []uistream.Chunk
}

// StepRestarted reports that the stream was cut or the request refused. The chunks of the step so
// far are void, and later requests leave out what Trim says.
type StepRestarted struct {
	RunID  string
	Reason string
	Trim   Trim
	Took   time.Duration // of the call; 0 if none was made since the last report
}

// StepDone carries the model's whole response of a step. The chat journals it and answers with
// [ExecuteCalls] or [ContinueRun], or not at all if the run ends.
type StepDone struct {
	RunID  string
	Step   int
	Chunks []uistream.Chunk
	Calls  []CallIntent // to execute; if empty, the step is complete
	// Ends is set when the run ends with this step: done, failed, limit, waiting.
	Ends   string
	Reason string
	Usage  uimessage.Usage
	// Model is the name of the model that answered, or empty if its provider did not say. Finish is why it stopped,
	// and Took how long the call was.
	Model, Finish string
	Took          time.Duration
	Trim          Trim // of the step's request; the chat passes it to its next run
	// Limit is the spending limit because of which the model Cheaper answers from now on, if people have to be told.
	Limit, Cheaper string
	// Asked are the step's calls that need a person's approval.
	Asked []AskedCall
}

// Why an answer is incomplete: reasons of [StepDone], kept with the message.
const (
	ReasonLength       = "length"         // cut at the length limit
	ReasonFiltered     = "filtered"       // stopped by the provider's content filter
	ReasonRefused      = "refused"        // the model said that it will not answer
	ReasonEmpty        = "empty"          // the response was empty, twice
	ReasonOnlyThoughts = "reasoning_only" // reasoning without an answer after it
	ReasonUnfinished   = "unfinished"     // the model did not report that the answer is complete
)

// NeverBegun is the prefix of the outcome of a call that was not executed, because the answer was
// cut or the run ended before.
const NeverBegun = "never begun: "

// AskedCall is what people see of a call before they approve it.
type AskedCall struct {
	CallID string
	Words  // What is empty if the tool does not say what would happen
	// Chinese are the words in Chinese; they are empty if the tool has none.
	Chinese Words
	Exact   string // what would take effect; may be empty if What is complete
	// Command is what the shell would get, Folder is where; both are empty for other tools.
	Command, Folder string
	Bind            string // what the approval is bound to in addition to the input
	// Rule is the operator's rule that covers the call once a person has approved its Bind.
	Rule string
	// FilesIn is the folder that contains all files which the call would send. If empty, the approval
	// covers only these files.
	FilesIn string
}

// Words are the texts of a request in one language.
type Words struct {
	Title string `json:"title,omitempty"` // of the tool
	What  string `json:"what,omitempty"`  // what would happen, in one sentence
	Risk  string `json:"risk,omitempty"`  // what may go wrong
}

// CallIntent is a call about to be executed.
type CallIntent struct {
	CallID     string
	Name       string
	Repeatable bool
	// Rule is what lets the call run without approval, as the audit log records it; if empty, its
	// tool needs none. Bind is as in [AskedCall].
	Rule, Bind string
}

// ToolDone carries the outcome of one call. Sent by the run; the chat journals it and answers with
// [OutcomeKept].
type ToolDone struct {
	RunID  string
	CallID string
	Chunks []uistream.Chunk
	Final  bool
	// Summary is for people and timelines; empty for preliminary outputs.
	Summary string
	// Preliminary outputs are shown but not journaled; the outcome follows.
	Preliminary bool
	// Durable outcomes must be fsynced before the run continues; those of repeatable calls need not
	// be.
	Durable bool
	Failed  bool
	Took    time.Duration
	// Switch is an order to continue in another context; the zero value is not an order.
	Switch ContextSwitch
	// Skill is an order to load or unload a skill; the zero value is not an order.
	Skill SkillOrder
}

// StepEnded reports that all calls of a step have outcomes. The chat decides how to continue.
type StepEnded struct {
	RunID  string
	Step   int
	Chunks []uistream.Chunk
	Ends   string // as in [StepDone]
	Reason string
}

// RunFailed reports that the run cannot continue: the model failed permanently, or the run
// panicked.
type RunFailed struct {
	RunID  string
	Reason string
	Err    string        // for the log, secrets masked
	Took   time.Duration // of the model call that failed; 0 if it was none, or was reported before
}

// QueueEgress is how a call of chat_send reaches the outbox. Sent on behalf of a run's call;
// answered with [EgressAnswer] when the row is delivered or parked, or after five seconds with what
// was delivered by then. Repeating it for the same call refers to the same row.
type QueueEgress struct {
	ChatKey ChatKey
	RunID   string // empty if it is from another chat's run
	CallID  string
	Text    string
	ReplyTo string
	Files   []FileRef
	Depth   int64 // of the other chat's run, see [StepInput]
}

// EgressAnswer answers [QueueEgress].
type EgressAnswer struct {
	Delivered bool
	Parked    bool
	Parts     int    // delivered parts so far
	Skipped   string // why nothing was queued: duplicate, limit, empty
	Err       string
}

// FileRef is a file that goes with an egress. Spoken is the text of a voice message, which is sent
// instead on platforms without voice.
type FileRef struct{ Path, FileID, Kind, Caption, Spoken string }

func (AcceptIngress) toChat()    {}
func (StopRun) toChat()          {}
func (WatchChat) toChat()        {}
func (UnwatchChat) toChat()      {}
func (ViewQuery) toChat()        {}
func (RewindChat) toChat()       {}
func (DecideApproval) toChat()   {}
func (WakeChat) toChat()         {}
func (EgressProgressed) toChat() {}
func (EgressDelivered) toChat()  {}
func (EgressFailed) toChat()     {}
func (RunProgressed) toChat()    {}
func (StepRestarted) toChat()    {}
func (StepDone) toChat()         {}
func (ToolDone) toChat()         {}
func (StepEnded) toChat()        {}
func (RunFailed) toChat()        {}
func (QueueEgress) toChat()      {}

func (AskPassivate) toChat() {}
func (Drain) toChat()        {}

func (m QueueEgress) key() ChatKey      { return m.ChatKey }
func (m AcceptIngress) key() ChatKey    { return m.ChatKey }
func (m StopRun) key() ChatKey          { return m.ChatKey }
func (m WatchChat) key() ChatKey        { return m.ChatKey }
func (m UnwatchChat) key() ChatKey      { return m.ChatKey }
func (m ViewQuery) key() ChatKey        { return m.ChatKey }
func (m RewindChat) key() ChatKey       { return m.ChatKey }
func (m DecideApproval) key() ChatKey   { return m.ChatKey }
func (m WakeChat) key() ChatKey         { return m.ChatKey }
func (m EgressProgressed) key() ChatKey { return m.ChatKey }
func (m EgressDelivered) key() ChatKey  { return m.ChatKey }
func (m EgressFailed) key() ChatKey     { return m.ChatKey }
