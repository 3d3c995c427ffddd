// Package tool is the contract between runs and what they can do. A tool is a
// Go file, a hand-written JSON Schema and the text that the model reads
// (name.md beside name.go). Implementations are one level deeper.
//
// A run offers tools in the order of their set, validates every input against
// the schema before a tool sees it, journals the call before it starts and the
// outcome before the model sees it.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Spec says what a tool is. Specs never change while a host runs.
type Spec struct {
	Name        string // ^[a-zA-Z0-9_-]{1,64}$, or server:tool for MCP
	Description string // what the model reads
	InputSchema json.RawMessage

	// ReadOnly tools change nothing anywhere.
	ReadOnly bool
	// Repeatable tools may run again after a crash that hid their outcome.
	Repeatable bool
	// Ordered tools run one after the other, in the order of their calls, when a
	// step has several.
	Ordered bool
	// Asks says that every call needs a person's approval.
	Asks bool
	// Title names the tool for people; empty: its name.
	Title string
	// Deadline bounds one call; 0 means two minutes.
	Deadline time.Duration
}

// Tool is one thing a run can do. Invoke is called concurrently.
type Tool interface {
	Spec() Spec
	// Invoke runs one call. The input has been validated. An error is told to the
	// model as the call's error text; it never ends the run. Invoke obeys ctx.
	Invoke(ctx context.Context, call Call) (Result, error)
}

// Streamer is a tool that shows preliminary results while it works.
type Streamer interface {
	Tool
	// InvokeStream is Invoke with a sink for preliminary results, each replacing
	// the one before.
	InvokeStream(ctx context.Context, call Call, preliminary func(json.RawMessage)) (Result, error)
}

// Call is one call of a tool by the model, with an immutable view of its run.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
	Run   Run
	// Bind is the [Explanation].Bind that a person agreed to; empty: nobody was
	// asked. A tool that has one compares it at the moment of the effect.
	Bind string
	// Egress is the run's way to people.
	Egress Egress
}

// Egress is how tools speak to people: through the outbox of the chat, so that
// nothing is lost and nothing is sent twice. It is safe for concurrent use.
type Egress interface {
	// Send owes a message to the run's own chat. The same call owes it once,
	// however often it is repeated. It waits at most five seconds for receipts.
	Send(ctx context.Context, callID string, out Outgoing) (Delivery, error)
	// SendTo owes a message to another chat, through that chat's own actor.
	SendTo(ctx context.Context, key messages.ChatKey, callID string, out Outgoing) (Delivery, error)
}

// Outgoing is a message for people, in Markdown.
type Outgoing struct {
	Text    string
	ReplyTo string // the platform's id of the message it answers
	Files   []messages.FileRef
}

// Delivery says what became of an [Outgoing] so far.
type Delivery struct {
	Delivered bool
	Parked    bool   // could not be sent; a person has to look at it
	Parts     int    // with the platform so far
	Skipped   string // why nothing was sent: duplicate, limit, empty
}

// Run is what a tool may know of the run that called it.
type Run struct {
	ChatKey   messages.ChatKey
	RunID     string
	MessageID string // of the assistant message that holds the call
	RequestID string
	Step      int
	// Sole says that the call is the only one of its step, LaneEmpty that no turn waits.
	Sole, LaneEmpty bool
	// Asker is the sender of the newest user turn the model saw.
	Asker Person
	// Group says that several people may write in the chat.
	Group bool
}

// Person is somebody on a platform, known by the platform's own id.
type Person struct {
	Platform string
	ID       string
	Name     string
}

// Result is what a call gave.
type Result struct {
	// Output is the JSON that the model reads; it is capped before it is stored.
	Output json.RawMessage
	// Final asks to end the run without another model call.
	Final bool
	// Switch orders the chat to go on in another context once the step has ended; the
	// zero value is no order.
	Switch messages.ContextSwitch
	// Skill orders the chat to load a skill or to put it away from the next step on; the
	// zero value is no order.
	Skill messages.SkillOrder
	// Summary is for people, at most 500 characters; empty: none.
	Summary string
	// Pictures are stored files of the run's chat that the model is shown with the result,
	// if it takes them.
	Pictures []messages.Picture
	// Failed says that what was called failed, though the call did not: a command with
	// an exit code, a server's error. The model reads Output either way.
	Failed bool
}
