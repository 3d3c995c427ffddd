package uimessage

import "encoding/json"

// Part is one part of a message: Text, Reasoning, Tool, SourceURL,
// SourceDocument, File, Data, StepStart or Unknown, always as a value, never as
// a pointer.
//
//sumtype:decl
type Part interface {
	// Type is the part's `type` member, such as `text` or `tool-read_file`.
	Type() string

	part()
}

// TextState says whether more text may come. Empty means that the part does not say.
type TextState string

// The states of text and reasoning parts.
const (
	TextStreaming TextState = "streaming"
	TextDone      TextState = "done"
)

// Text is what was said.
type Text struct {
	Text             string
	State            TextState
	ProviderMetadata json.RawMessage
	Extra            []Member
}

// Reasoning is what the model thought.
type Reasoning struct {
	ID               Optional[string]
	Text             string
	State            TextState
	ProviderMetadata json.RawMessage
	Extra            []Member
}

// SourceURL is a link the model drew on.
type SourceURL struct {
	SourceID         string
	URL              string
	Title            Optional[string]
	ProviderMetadata json.RawMessage
	Extra            []Member
}

// SourceDocument is a document the model drew on.
type SourceDocument struct {
	SourceID         string
	MediaType        string
	Title            string
	Filename         Optional[string]
	ProviderMetadata json.RawMessage
	Extra            []Member
}

// File is a file by URL, which may be a data URL.
type File struct {
	MediaType        string
	URL              string
	Filename         Optional[string]
	ProviderMetadata json.RawMessage
	Extra            []Member
}

// Data is an application's own part, of type `data-<Name>`.
type Data struct {
	Name  string
	ID    Optional[string]
	Data  json.RawMessage
	Extra []Member
}

// StepStart is the border between two model calls of one message.
type StepStart struct {
	Extra []Member
}

// Unknown is a part of a type this package does not know, kept whole.
type Unknown struct {
	// Name is the `type` member, empty if it is missing or not a string.
	Name string
	Raw  json.RawMessage
}

// Type implements Part.
func (Text) Type() string { return typeText }

// Type implements Part.
func (Reasoning) Type() string { return typeReasoning }

// Type implements Part.
func (SourceURL) Type() string { return typeSourceURL }

// Type implements Part.
func (SourceDocument) Type() string { return typeSourceDocument }

// Type implements Part.
func (File) Type() string { return typeFile }

// Type implements Part.
func (p Data) Type() string { return prefixData + p.Name }

// Type implements Part.
func (StepStart) Type() string { return typeStepStart }

// Type implements Part.
func (p Unknown) Type() string { return p.Name }

func (Text) part()           {}
func (Reasoning) part()      {}
func (Tool) part()           {}
func (SourceURL) part()      {}
func (SourceDocument) part() {}
func (File) part()           {}
func (Data) part()           {}
func (StepStart) part()      {}
func (Unknown) part()        {}

const (
	typeText           = "text"
	typeReasoning      = "reasoning"
	typeSourceURL      = "source-url"
	typeSourceDocument = "source-document"
	typeFile           = "file"
	typeStepStart      = "step-start"
	typeDynamicTool    = "dynamic-tool"
	prefixTool         = "tool-"
	prefixData         = "data-"
)
