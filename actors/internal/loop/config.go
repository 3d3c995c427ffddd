package loop

import "encoding/json"

// Config configures a run. The zero value is a run without tools.
type Config struct {
	// Tools are all tools of the run.
	Tools []Tool
	// Guards end runs that make no progress. The zero value turns all of them off, as in the SDK.
	Guards Guards

	// SendSources shows people the sources of the model's answer.
	SendSources bool
	// ErrorText is the text of an error for the stream; nil hides all errors.
	ErrorText func(error) string
	// StartMetadata returns the metadata of a message that starts; nil for none.
	StartMetadata func() json.RawMessage

	// NewID makes ids of approvals and of repeated text blocks. It is required.
	NewID func() string
	// MessageID is the id of a new assistant message. A continued message keeps its id.
	MessageID string
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
	// Check returns an error if an input of the tool, which is valid JSON, is not acceptable; nil
	// accepts every input.
	Check func(tool string, input json.RawMessage) error
	// Asks reports whether a call needs a person's approval; nil means never.
	Asks func(Call) bool
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
