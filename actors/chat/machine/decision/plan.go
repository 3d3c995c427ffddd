package decision

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// Ref refers to an actor or to anyone waiting for an answer. A chat stores references but does not look into them. Two
// references to the same actor are equal.
type Ref any

// Input is one thing for a chat to decide: a message, a timer, the result of an effect, [Loaded], [Idle], [Refused] or
// the value of [Plan.IfRefused].
type Input struct {
	Now    time.Time
	NewID  func(now time.Time) string // a random id that sorts by time
	Msg    any
	Sender Ref    // where an answer goes
	Child  string // name of the child that sent the message, if one did
	Err    error  // why the store refused the writes of a plan
	// NoFiles is set if the chat's files cannot be written at the moment. The plan must not contain any then.
	NoFiles bool
}

type (
	// Loaded is the first input after every load.
	Loaded struct{}
	// Idle asks the chat what to do next when no input is waiting.
	Idle struct{}
	// Refused reports that the store refused the writes of a plan. Of is the message that the plan was made for.
	Refused struct{ Of any }
	// ChildGone reports a child that ended without a result.
	ChildGone struct{ Name string }
	// Forgotten follows the deletion of a chat. Of is the command to delete it.
	Forgotten struct {
		Of  any
		Err error
	}
	// Commanded is the host's answer to a person's command, with optional buttons. Known is false if the host has no
	// such command.
	Commanded struct {
		Msg   messages.AcceptIngress
		Words string
		Known bool
		Asks  []messages.Ask
	}
	// Fetched contains the files of a turn, or the reasons why they could not be fetched.
	Fetched struct {
		TurnID string
		N      int // of the attempt
		Parts  []uimessage.Part
	}
	// Gathered reports that the requests of other chats have been shown here. Others counts those that the person
	// cannot decide from here.
	Gathered struct {
		ID     string
		Others int
		Done   bool
	}
)

// Plan is the result of a decision: writes, which must be durable before anything else happens, and then effects, in
// order.
type Plan struct {
	// Wake adds the chat to the list of chats that the host loads when it starts. It is written before everything
	// else.
	Wake bool
	// Files and Grants are written before the facts that mention them. If Files cannot be written, the same input is
	// decided again with [Input.NoFiles].
	Files   []File
	Grants  []Granted
	Writes  []Write
	Effects []Effect
	// MayRefuse is set if the sender of the message repeats it or is informed that it was refused: the chat then stays
	// unchanged when the store refuses the writes. Otherwise the chat is loaded again.
	MayRefuse bool
	// IfRefused is the next input if the store refuses the writes. If nil, it is [Refused].
	IfRefused any
	// Rest removes the chat from the list of chats that the host loads when it starts, after the writes.
	Rest bool
}

// Empty reports whether the plan contains no writes and no effects.
func (p *Plan) Empty() bool {
	return !p.Wake && !p.Rest && len(p.Files)+len(p.Grants)+len(p.Writes)+len(p.Effects) == 0
}

// Granted replaces the grants of the chat.
type Granted struct{ List []permission.Grant }

// Write is one of: facts, a turn that is appended to the history directly, a checkpoint, or a rewrite.
type Write struct {
	Records    []journal.Record
	Durable    bool // fsync before the effects
	Turn       *uimessage.Message
	Checkpoint *journal.Checkpoint
	Rewrite    *journal.Rewrite
}

// Child is the kind of a child actor of the chat.
type Child int

// The kinds of children.
const (
	RunChild Child = iota
	CompactionChild
	MemoryChild
)

// Counted identifies the metric of a [Count].
type Counted int

// The metrics. Times are in seconds.
const (
	CountRunStarted Counted = iota
	CountRunGone            // its actor has ended
	CountRunFinished
	CountRunSeconds
	CountRunSteps
	CountMerged
	CountFirstWords // seconds until people saw something of a run
	CountEgress
	CountApproval
	CountApprovalWait
	CountCompaction
	CountTokensBefore
	CountTokensAfter
	CountExtraction
	CountFacts
	CountFactsDropped
)

func (Send) effect()           {}
func (Route) effect()          {}
func (Report) effect()         {}
func (Resend) effect()         {}
func (Start) effect()          {}
func (Tell) effect()           {}
func (Stop) effect()           {}
func (SetTimer) effect()       {}
func (FetchFiles) effect()     {}
func (CancelFetch) effect()    {}
func (GatherRequests) effect() {}
func (Hibernate) effect()      {}
func (ForgetAll) effect()      {}
func (RunCommand) effect()     {}
func (Audit) effect()          {}
func (PrefixBroken) effect()   {}
func (RunEnded) effect()       {}
func (Count) effect()          {}
func (Log) effect()            {}
