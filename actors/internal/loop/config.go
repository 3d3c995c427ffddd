package loop

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Config says how a run behaves. Its zero value is a run without tools.
type Config struct {
	// Tools are all tools of the run.
	Tools []Tool
	// ActiveTools names the tools that the model may call; nil means all.
	ActiveTools []string
	// ToolChoice is that of [model.Request]; calls are refused when it is none.
	ToolChoice string

	// StopAfterSteps ends the run after so many steps; 0 means no such limit.
	StopAfterSteps int
	// StopWhen, if set, ends the run after a step for which it is true.
	StopWhen func(calls []Call) bool
	// Guards end runs that lead nowhere. The zero value is none of them, as in the SDK.
	Guards Guards

	// HideReasoning and SendSources say what people see of the model's answer.
	HideReasoning bool
	SendSources   bool
	// ErrorText words an error for the stream; nil hides all of them.
	ErrorText func(error) string
	// Metadata gives message metadata by the kind of stream part, such as start,
	// finish-step or finish; nil results send nothing.
	Metadata func(kind string) json.RawMessage

	// NewID makes ids of approvals and of repeated text blocks. It is needed.
	NewID func() string
	// MessageID is the id of a new assistant message. A continued one keeps its own.
	MessageID string

	// Sign signs an approval request, Verify checks the signature of one that
	// comes back; nil for both means unsigned.
	Sign   func(Approval) string
	Verify func(a Approval, signature string) error

	// Record keeps what [Loop.ResponseMessages] gives. Chats do without it: they
	// convert their history.
	Record bool
}

// Tool is what the engine knows of a tool.
type Tool struct {
	Name string
	// CallName is the name that the model calls it by; empty: its name.
	CallName string
	Title    string          // empty: none
	Metadata json.RawMessage // shown beside its calls; nil: none
	// Dynamic tools are known at run time only; their parts are of type dynamic-tool.
	Dynamic bool
	// Client tools have no code here: their calls wait for an output from outside.
	Client bool
	// Check says why an input of the tool, which is valid JSON, does not fit; nil
	// takes all.
	Check func(tool string, input json.RawMessage) error
	// Asks says that a call needs a person's approval; nil never asks.
	Asks func(Call) bool
	// ModelOutput says how an output is put to the model; nil means as it is.
	// It matters to [Loop.ResponseMessages] only.
	ModelOutput func(modelmessage.CallResult) (modelmessage.Output, error)
}

// Call is a tool call of the model.
type Call struct {
	ID   string
	Name string
	// Input is JSON in one line. A call whose input is no JSON has none.
	Input json.RawMessage
	// RawInput is what the model wrote, when that is no JSON.
	RawInput string
	// Err says why the call is invalid; it is never executed then.
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
