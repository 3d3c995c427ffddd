package loop

import (
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Outcome is the result of a model call.
type Outcome struct {
	// Chunks still belong to the stream, before any outcome of a call.
	Chunks []uistream.Chunk
	// Calls are to be executed, in the order of the model. None may start before the response is
	// durable.
	Calls []Call
	// Approvals are calls that wait for a person.
	Approvals []Approval
	// Invalid are calls that cannot be executed; they have their error already.
	Invalid []Call
	// Left are valid calls that are not executed, because the finish reason says that the answer is
	// incomplete: they never begin.
	Left []Call
	// Said is set if there was text or a file, Reasoned if there was reasoning, Called if there were
	// calls of any kind.
	Said, Reasoned, Called bool
	// Finish is why the model ended; its Unified is "other" if the model did not say.
	Finish model.FinishReason
	Usage  model.Usage
	// Cut is set if no finish event arrived: nothing of the step is final. [Loop.RestartStep] forgets
	// it.
	Cut bool
	// Err is the failure of the call: the error of EndStream, or of the last error event without a
	// finish after it.
	Err error
}

// Next is what follows a step.
type Next string

// What follows a step.
const (
	NextStep   Next = "continue" // another model call
	NextDone   Next = "done"     // the answer is complete
	NextWait   Next = "waiting"  // a person must answer first
	NextLimit  Next = "limit"    // the model needs another step, but a limit is reached
	NextFailed Next = "failed"   // the model call failed
)

// Decision is what follows a step, and the limit if there is one.
type Decision struct {
	Next   Next
	Reason Limit
}

// Limit names the limit that ended an unfinished run.
type Limit string

// The limits.
const (
	LimitNone           Limit = ""
	LimitSteps          Limit = "steps"           // Guards.Steps
	LimitEqualCalls     Limit = "equal_calls"     // Guards.EqualCalls
	LimitSchemaFailures Limit = "schema_failures" // Guards.SchemaFailures
)
