package loop

import (
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Outcome is what a model call came to.
type Outcome struct {
	// Chunks still belong to the stream, before any outcome of a call.
	Chunks []uistream.Chunk
	// Calls are to be executed, in the order of the model. None may begin before
	// the response is durable.
	Calls []Call
	// Approvals are calls that wait for a person.
	Approvals []Approval
	// Invalid are calls that nobody can execute; they have their error already.
	Invalid []Call
	// Client are calls that wait for an output from outside.
	Client []Call
	// Left are calls that are neither faulty nor executed, because the finish reason
	// says that the answer is not whole: they never begin.
	Left []Call
	// Said: there was text to read, or a file; Reasoned: there was reasoning; Called:
	// there were calls of any kind.
	Said, Reasoned, Called bool
	// Finish is why the model ended; its Unified is other when it did not say.
	Finish model.FinishReason
	Usage  model.Usage
	// Cut says that no finish event came: nothing of the step may be kept as
	// final. [Loop.RestartStep] forgets it.
	Cut bool
	// Err is the failure of the call: the error of EndStream or of the last
	// error event without a finish after it.
	Err error
}

// Next is what follows a step.
type Next string

// What follows a step.
const (
	NextStep   Next = "continue" // the model is asked again
	NextDone   Next = "done"     // the model has said all
	NextWait   Next = "waiting"  // a person or a client must answer first
	NextLimit  Next = "limit"    // the model wants to go on and may not
	NextFailed Next = "failed"   // the model call failed
)

// Decision is what follows a step, and why it is a limit.
type Decision struct {
	Next   Next
	Reason Limit
}

// Limit names what ended a run that wanted to go on.
type Limit string

// The limits.
const (
	LimitNone           Limit = ""
	LimitStop           Limit = "stop"            // StopAfterSteps or StopWhen
	LimitSteps          Limit = "steps"           // Guards.Steps
	LimitEqualCalls     Limit = "equal_calls"     // Guards.EqualCalls
	LimitSchemaFailures Limit = "schema_failures" // Guards.SchemaFailures
)
