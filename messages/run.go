package messages

import (
	"encoding/json"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// ToRun is everything that reaches a run actor from its chat and the model gate.
//
//sumtype:decl
type ToRun interface{ toRun() }

// StartRun begins a run, or goes on with one after a crash. Sent once by the
// chat; the run answers with [RunProgressed], [StepDone] and what follows.
type StartRun struct {
	ChatKey   ChatKey
	RunID     string
	RequestID string
	Asker     Asker
	Group     bool // several people may write in the chat
	System    string
	// Tools are the names offered, in their order; fixed for the run.
	Tools []string
	// Only are the tools that the loaded skills leave; nil: all. Calls of others are
	// refused. The offer stays as it is.
	Only  []string
	Input StepInput
	// Continue is the assistant message to go on in; its ID alone when it is new.
	Continue uimessage.Message
	// Resume are calls of Continue that still need their outcome. Calls of it that
	// a person approved need none: the run begins with them.
	Resume []string
	// Hold ends the run as waiting once these calls have their outcomes: others of
	// the same step still wait for a person.
	Hold bool
	// Approved are the calls of Continue that a person agreed to.
	Approved []ApprovedCall
	// Grants are what people allow in the chat for a time.
	Grants []Grant
	// Waiting are the requests that are open in the chat. A call that equals one of
	// them is not asked about again.
	Waiting []OpenRequest
	// NextRequest is the number that the run's first own request will get.
	NextRequest int
	// Trim is what the requests of the chat leave out, since the model said that
	// they are too long.
	Trim Trim
	// MayShorten: a request that is too long may be answered by [ShortenInput].
	MayShorten bool
}

// Trim is what requests leave out: messages before Drop, and large outputs of
// tools before Shorten, both counted in the messages of a [StepInput].
type Trim struct{ Drop, Shorten int }

// OpenRequest is a call that waits for a person.
type OpenRequest struct {
	N     int
	Name  string
	Input json.RawMessage
	Bind  string // as in [AskedCall]
}

// Asker is the sender of the newest turn that a step sees.
type Asker struct{ Platform, ID, Name string }

// StepInput is what one model call sees; it never changes after sending.
type StepInput struct {
	Step      int
	Messages  []modelmessage.Message
	LaneEmpty bool
	// Depth counts the bots behind the newest turn; what the run says in another
	// chat has one more behind it.
	Depth int64
	// MayBeSilent: an answer without words leaves no person without one, since people
	// have read something already or only a task of the host asked.
	MayBeSilent bool
}

// ContinueRun makes the next model call. MessageID is set when the message
// under way was closed and a new one begins.
type ContinueRun struct {
	RunID     string
	MessageID string
	// System and Only take the place of those of [StartRun] when a skill was loaded or
	// put away; empty: both stay.
	System string
	Only   []string
	Asker  Asker
	Input  StepInput
	// Approved are calls that the new message begins with, to be executed before
	// anything else; then the run reports [StepEnded] and is told again how to go on.
	Approved []ApprovedCall
	// Grants are what people allow in the chat for a time, as of now.
	Grants []Grant
}

// ApprovedCall is a call that a person agreed to.
type ApprovedCall struct {
	CallID string
	Name   string
	Input  json.RawMessage
	// Bind is what their answer is bound to beside the input; empty: nothing.
	Bind string
}

// Grant is a rule that lets commands run without asking.
type Grant struct {
	ID     string
	Person Asker  // it counts for what this person asks for; the zero value: for everybody
	Folder string // it counts in this folder of the workspace; empty: in all of them
	Rule   string
	// FilesIn is what the grant is about in the place of a rule for commands: files that are
	// in this folder of the project, with nothing in between, may be sent.
	FilesIn string
	// Binds, if there are any, are all that the rule covers: it names a program that
	// runs files, and a changed file asks again.
	Binds []string
	// Until ends the grant by either of its clocks; zero: it has no end.
	Until time.Time
}

// ExecuteCalls lets the calls of the step begin: their intents are durable.
type ExecuteCalls struct {
	RunID     string
	LaneEmpty bool
}

// SlotGranted lets a run make one model call; it gives the slot back with [ReleaseSlot].
type SlotGranted struct{ RunID string }

func (StartRun) toRun()     {}
func (ContinueRun) toRun()  {}
func (ExecuteCalls) toRun() {}
func (SlotGranted) toRun()  {}
