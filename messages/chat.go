package messages

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// ToChat is everything that reaches a chat actor. All of it comes through the
// chat's shard, but for what its own children say.
//
//sumtype:decl
type ToChat interface{ toChat() }

// Addressed is a message that the router takes to the chat of its key.
type Addressed interface{ Key() ChatKey }

// Verdict is what the platform's gate said of an ingress.
type Verdict string

// The verdicts.
const (
	VerdictOpen    Verdict = "open"    // becomes a turn
	VerdictIgnored Verdict = "ignored" // settled at once
	VerdictRefused Verdict = "refused" // declined, perhaps with a notice
	VerdictCommand Verdict = "command" // for the host
	// VerdictTakenBack: somebody took the message of EditOf back.
	VerdictTakenBack Verdict = "taken_back"
)

// TakenBackID is the ingress id of the withdrawal of the message with an ingress id. A
// message whose withdrawal is known already is not taken.
func TakenBackID(ingressID string) string { return ingressID + "/taken-back" }

// AcceptIngress brings one ingress. Sent by an adapter actor; answered to its
// sender with [IngressAccepted] or [IngressRejected] once the fact is durable.
// An ingress id that was handled before is answered as a duplicate and does nothing.
type AcceptIngress struct {
	ChatKey   ChatKey
	RequestID string
	IngressID string
	Verdict   Verdict
	Reason    string // the gate's
	Notice    string // sent to the chat with a refusal; empty: none
	Asks      []Ask  // that go with the notice, where there are buttons
	// Turn is the user turn without its arrival number; for other verdicts it
	// carries only what the ledger keeps.
	Turn uimessage.Message
	// EditOf is the platform's id of the message that this one edits or takes back.
	EditOf string
	// Bot: the platform says that the sender is one.
	Bot bool
	// Forwarded: the words are somebody else's, or came through another bot. They
	// never decide anything.
	Forwarded bool
	// Admin: the platform says that the sender administers the chat.
	Admin bool
	// Decides: an ignored message counts if it answers a request that waits here.
	Decides bool
	// Quote: an ignored message may be quoted when somebody addresses the bot later.
	Quote bool
	// Order is the place of the message in the platform's own order of the chat's
	// messages; 0: not known. See [Receipt].
	Order int64
	// ToBot: the platform says that the message answers one of the bot's own.
	ToBot bool
	// Elsewhere: the message answers something that is not in this chat.
	Elsewhere bool
	// Overheard: in a group where the bot hears everything, the message does not turn to it.
	Overheard bool
	// Self is the name by which people mention the bot in texts; empty: it has none.
	Self string
	// Command and Args are set for commands.
	Command, Args string
}

// IngressAccepted answers [AcceptIngress]: the ingress is durable and will end
// in exactly one fate.
type IngressAccepted struct {
	ChatKey   ChatKey
	RequestID string
	TurnID    string
	Duplicate bool
	// Declined says why it became no turn; empty: it did, or needed none.
	Declined string
	// Answer is what the host says to a command on a platform without an outbox, whose
	// reader has nowhere else to find it.
	Answer string
}

// IngressRejected answers [AcceptIngress]: nothing was taken; try again later.
type IngressRejected struct {
	ChatKey   ChatKey
	RequestID string
	Reason    string
}

// StopRun ends the run under way, durably. Answered with [RunStopped].
type StopRun struct {
	ChatKey   ChatKey
	RequestID string
	By        string
	All       bool // waiting turns are dropped as stopped
}

// RunStopped answers [StopRun].
type RunStopped struct {
	ChatKey ChatKey
	Was     bool   // a run was under way
	Err     string // the stop could not be made durable
}

// WatchChat makes the chat send [ChatProgressed] with this id to the sender.
// The first of them repeats the message under way, if there is one.
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
	Err      string
}

// RewindChat cuts the history behind a message into an archive. Answered with [ChatRewound].
type RewindChat struct {
	ChatKey ChatKey
	Keep    string // id of the last message that stays; empty: none does
}

// ChatRewound answers [RewindChat].
type ChatRewound struct {
	ChatKey ChatKey
	Reason  string // empty: done; busy, not_found, or why not
}

// DecideApproval brings a person's decisions on calls that asked, by the ids of
// their requests and by nothing else. Sent by an adapter on behalf of somebody who
// may decide in the chat; answered with [ApprovalDecided] once all of them are
// durable. A decision that comes again is answered as already made.
type DecideApproval struct {
	ChatKey   ChatKey
	RequestID string
	By        Asker
	// Admin: the platform says that the person administers the chat.
	Admin bool
	Say   []Decision
	// Wait is how long the person can wait for an answer; 0: as long as it takes.
	Wait time.Duration
}

// Decision is what a person said to one request.
type Decision struct {
	ApprovalID string
	Approved   bool
	Reason     string // empty: none was given
	// Digest is that of the request that the person saw; empty: not known.
	Digest string
}

// ApprovalDecided answers [DecideApproval], with one outcome for each decision.
type ApprovalDecided struct {
	ChatKey  ChatKey
	Outcomes []DecisionOutcome
	Err      string // nothing was taken; try again later
}

// DecisionOutcome is what became of a decision.
type DecisionOutcome struct {
	ApprovalID string
	Is         DecisionIs
	MessageID  string // of the message that asked
	// Late: the outcome comes in a message of its own, not in the one that asked.
	Late bool
	// By and Answer are who decided before, as <platform>-<userId>, and how it ended. ByName
	// is what people call them.
	By, ByName, Answer string
}

// DecisionIs says whether a decision counts.
type DecisionIs string

// What becomes of decisions. Only the first counts.
const (
	DecisionDone      DecisionIs = "done"
	DecisionAlready   DecisionIs = "already"   // it was decided before
	DecisionExpired   DecisionIs = "expired"   // too late
	DecisionUnknown   DecisionIs = "unknown"   // there is no such request
	DecisionForbidden DecisionIs = "forbidden" // this person may not decide here
	DecisionUnseen    DecisionIs = "unseen"    // it was not shown completely yet, and stays open
)

// WakeChat makes a chat load and go on with what it left. Sent at start.
type WakeChat struct{ ChatKey ChatKey }

// EgressProgressed says: one part of a row is with the platform. Sent by an adapter
// actor; it may come twice and is answered with [EgressKept].
type EgressProgressed struct {
	ChatKey ChatKey
	Row     RowID
	Part    int
	Receipt Receipt
	Draft   bool
}

// EgressDelivered says: all parts of a row are with the platform. It may come
// twice and is answered with [EgressKept].
type EgressDelivered struct {
	ChatKey  ChatKey
	Row      RowID
	Receipts []Receipt
	Maybe    bool // a send without an answer was made again: people may see it twice
}

// EgressFailed says: the platform refused a row for good, or tries ran out.
type EgressFailed struct {
	ChatKey ChatKey
	Row     RowID
	Reason  string
	Tries   int  // sends that failed; 0: not known
	Maybe   bool // a send ended without an answer: people may see it
}

// RowID names an outbox row within a chat.
type RowID struct {
	MessageID string
	N         int
}

// RunProgressed says: more chunks of the step under way. Sent by the run, coalesced.
type RunProgressed struct {
	RunID  string
	Chunks []uistream.Chunk
}

// StepRestarted says: the stream was cut, or the request refused; what came of the
// step is void, and the requests from here on leave out what Trim says.
type StepRestarted struct {
	RunID  string
	Reason string
	Trim   Trim
}

// StepDone says: the model's whole response of a step has come. The chat journals
// it and answers [ExecuteCalls], [ContinueRun] or nothing, when the run ends.
type StepDone struct {
	RunID  string
	Step   int
	Chunks []uistream.Chunk
	Calls  []CallIntent // to execute; empty: the step is complete
	// Ends is set when the run ends with this step: done, failed, limit, waiting.
	Ends   string
	Reason string
	Usage  uimessage.Usage
	Trim   Trim // of the step's request; the chat hands it to its next run
	// Asked are the step's calls that a person has to be asked about.
	Asked []AskedCall
}

// Why an answer ended that is not whole: reasons of [StepDone], kept with the message.
const (
	ReasonLength       = "length"         // cut at its length limit
	ReasonFiltered     = "filtered"       // stopped by the provider for its content
	ReasonRefused      = "refused"        // the model said that it will not answer
	ReasonEmpty        = "empty"          // nothing was said, twice
	ReasonOnlyThoughts = "reasoning_only" // reasoning, and no answer after it
	ReasonUnfinished   = "unfinished"     // the model did not say that the answer is whole
)

// NeverBegun begins the outcome of a call that was not executed, because its answer was
// cut or its run ended before.
const NeverBegun = "never begun: "

// AskedCall is what people are shown of a call before they agree.
type AskedCall struct {
	CallID string
	Words  // What is empty where the tool does not say what would happen
	// Chinese are the words in Chinese; they are empty where the tool has none.
	Chinese Words
	Exact   string // what would take effect; it may be empty where What says it all
	// Command is what the shell would get, Folder where; empty for other tools.
	Command, Folder string
	Bind            string // beside the input, what the answer is bound to
	// Rule is one of the operator's that covers the call once a person agreed to its Bind.
	Rule string
	// FilesIn is the folder that all files which the call would send are in; empty: people
	// agree to these files alone.
	FilesIn string
}

// Words are what a request says to people in one language.
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
	// Rule is what lets the call run without asking, as the audit log keeps it; empty:
	// its tool does. Bind is as in [AskedCall].
	Rule, Bind string
}

// ToolDone says: the outcome of one call. Sent by the run; the chat journals it and
// answers [OutcomeKept].
type ToolDone struct {
	RunID  string
	CallID string
	Chunks []uistream.Chunk
	Final  bool
	// Summary is for people and timelines; empty for preliminary outputs.
	Summary string
	// Preliminary outputs are shown and not journaled; the outcome follows.
	Preliminary bool
	// Forced outcomes must be on the disk before the run goes on; those of calls
	// that may be repeated need not.
	Forced bool
	Failed bool
	// Switch is an order to go on in another context; the zero value is none.
	Switch ContextSwitch
	// Skill is an order to load a skill or to put it away; the zero value is none.
	Skill SkillOrder
}

// StepEnded says: all calls of a step have outcomes. The chat decides how to go on.
type StepEnded struct {
	RunID  string
	Step   int
	Chunks []uistream.Chunk
	Ends   string // as in [StepDone]
	Reason string
}

// RunFailed says: the run cannot go on: the model failed for good, or a panic.
type RunFailed struct {
	RunID  string
	Reason string
	Err    string // for the log, secrets masked
}

// QueueEgress is how a call of chat_send reaches the outbox. Sent on behalf of a
// run's call; answered with [EgressAnswer] when the row is delivered or parked,
// or after five seconds with what was delivered by then. The same call asks for
// the same row, however often it comes.
type QueueEgress struct {
	ChatKey ChatKey
	RunID   string // empty: from another chat's run
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
	Parts     int    // parts with the platform so far
	Skipped   string // why nothing was queued: duplicate, limit, empty
	Err       string
}

// FileRef is a file that goes with an egress. Spoken are the words of a voice, which
// people get as text where they cannot hear it.
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

// Key implements Addressed.
func (m QueueEgress) Key() ChatKey { return m.ChatKey }

func (AskPassivate) toChat() {}
func (Drain) toChat()        {}

// Key implements Addressed.
func (m AcceptIngress) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m StopRun) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m WatchChat) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m UnwatchChat) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m ViewQuery) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m RewindChat) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m DecideApproval) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m WakeChat) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m EgressProgressed) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m EgressDelivered) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m EgressFailed) Key() ChatKey { return m.ChatKey }
