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

// StartRun starts a run, or continues one after a crash. Sent once by the chat; the run answers
// with [RunProgressed], [StepDone] and what follows.
type StartRun struct {
	ChatKey   ChatKey
	RunID     string
	RequestID string
	Asker     Asker
	// Payer is on whose account the run is, as from [PersonKey]: who wrote the first message that it answers. It is empty
	// for a task.
	Payer  string
	Group  bool // several people may write in the chat
	System string
	// Model is the name of the model that people chose for the chat; empty is the main model. Effort is the word for
	// how much it thinks; empty leaves that to its settings.
	Model, Effort string
	// Tools are the names offered, in their order; fixed for the run, except that those of Later are
	// offered from the step on in which they can do something.
	Tools, Later []string
	// Only are the tools that the loaded skills allow, or nil for all. Calls of others are refused,
	// but the offered tools stay the same.
	Only  []string
	Input StepInput
	// Continue is the assistant message to continue in; it has only an ID if it is new.
	Continue uimessage.Message
	// Resume are calls of Continue that still need their outcome. Calls that a person approved are
	// not among them: the run starts with those.
	Resume []string
	// Hold ends the run as waiting once these calls have their outcomes, because other calls of the
	// same step still wait for a person.
	Hold bool
	// Approved are the calls of Continue that a person approved.
	Approved []ApprovedCall
	// Grants are the active grants of the chat.
	Grants []Grant
	// Waiting are the open requests of the chat. A call that equals one of them is not asked about
	// again.
	Waiting []OpenRequest
	// NextRequest is the number that the run's first own request will get.
	NextRequest int
	// Trim is what the requests of the chat leave out, because the model refused longer ones.
	Trim Trim
	// MayShorten is set if the run may send [ShortenInput] for a request that is too long.
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
	// Depth counts the bots that the newest turn passed through; what the run says in another chat
	// counts one more.
	Depth int64
	// MayBeSilent is set if an answer without words is acceptable, because people have read something
	// already or only a task of the host asked.
	MayBeSilent bool
}

// ContinueRun makes the next model call. MessageID is set if the current message was closed and a
// new one starts.
type ContinueRun struct {
	RunID     string
	MessageID string
	// System and Only replace those of [StartRun] when a skill was loaded or unloaded; if empty, both
	// stay the same.
	System string
	Only   []string
	Asker  Asker
	Input  StepInput
	// Approved are calls that the new message starts with, to be executed first; then the run reports
	// [StepEnded] and waits for the next instruction.
	Approved []ApprovedCall
	// Grants are the active grants of the chat as of now.
	Grants []Grant
}

// ApprovedCall is a call that a person approved.
type ApprovedCall struct {
	CallID string
	Name   string
	Input  json.RawMessage
	// Bind is what the approval is bound to in addition to the input; may be empty.
	Bind string
	// Asker is who asked for the call. Others may have written since.
	Asker Asker
}

// Grant is a rule that lets commands run without approval.
type Grant struct {
	ID     string
	Person Asker  // it applies to what this person asks for; the zero value means everybody
	Folder string // it applies in this folder of the workspace; if empty, in all
	Rule   string
	// FilesIn is set instead of a rule for commands: files directly in this folder of the project may
	// be sent.
	FilesIn string
	// Binds, if any, limit the rule to these binds: it names a program that runs files, and a changed
	// file needs a new approval.
	Binds []string
	// Until is when the grant expires; the zero value means never.
	Until time.Time
}

// ExecuteCalls lets the calls of the step start: their intents are durable.
type ExecuteCalls struct {
	RunID     string
	LaneEmpty bool
}

// SlotGranted lets a run make one model call; the run returns the slot with [ReleaseSlot].
type SlotGranted struct{}

func (StartRun) toRun()     {}
func (ContinueRun) toRun()  {}
func (ExecuteCalls) toRun() {}
func (SlotGranted) toRun()  {}
