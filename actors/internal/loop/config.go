package loop

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Config configures a run. The zero value is a run without tools.
type Config struct {
	// Tools are all tools of the run.
	Tools []Tool
	// ActiveTools names the tools that the model may call; nil means all.
	ActiveTools []string
	// ToolChoice is that of [model.Request]; with none, calls are refused.
	ToolChoice string

	// StopAfterSteps ends the run after so many steps; 0 means no limit.
	StopAfterSteps int
	// StopWhen, if set, ends the run after a step for which it is true.
	StopWhen func(calls []Call) bool
	// Guards end runs that make no progress. The zero value turns all of them off, as in the SDK.
	Guards Guards

	// HideReasoning and SendSources control what people see of the model's answer.
	HideReasoning bool
	SendSources   bool
	// ErrorText is the text of an error for the stream; nil hides all errors.
	ErrorText func(error) string
	// Metadata returns message metadata by the kind of stream part, such as start, finish-step or
	// finish; nothing is sent for nil.
	Metadata func(kind string) json.RawMessage

	// NewID makes ids of approvals and of repeated text blocks. It is required.
	NewID func() string
	// MessageID is the id of a new assistant message. A continued message keeps its id.
	MessageID string

	// Sign signs an approval request, Verify checks the signature of a returned one; if both are nil,
	// requests are unsigned.
	Sign   func(Approval) string
	Verify func(a Approval, signature string) error

	// Record records what [Loop.ResponseMessages] returns. Chats do not need it: they convert their
	// history.
	Record bool
}

// Tool describes a tool to the engine.
type Tool struct {
	Name string
	// CallName is the name by which the model calls it, if that is not its name.
	CallName string
	Title    string          // may be empty
	Metadata json.RawMessage // shown with its calls; may be nil
	// Dynamic tools are known at run time only; their parts are of type dynamic-tool.
	Dynamic bool
	// Client tools have no code here: their calls wait for an output from outside.
	Client bool
	// Check returns an error if an input of the tool, which is valid JSON, is not acceptable; nil
	// accepts every input.
	Check func(tool string, input json.RawMessage) error
	// Asks reports whether a call needs a person's approval; nil means never.
	Asks func(Call) bool
	// ModelOutput converts an output for the model; nil means unchanged. Only [Loop.ResponseMessages]
	// uses it.
	ModelOutput func(modelmessage.CallResult) (modelmessage.Output, error)
}

// Call is a tool call of the model.
type Call struct {
	ID   string
	Name string
	// Input is JSON in one line. It is empty if the model's input is not JSON.
	Input json.RawMessage
	// RawInput is what the model sent if that is not JSON.
	RawInput string
	// Err says why the call is invalid; an invalid call is never executed.
	Err error

	Dynamic          bool
	ProviderExecuted bool
	ProviderMetadata json.RawMessage
}

// Approval is a call that waits for a person.
type Approval struct {
	ID   string
	Call Call
}
