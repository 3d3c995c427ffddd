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

// TextState says whether more text may follow. It is empty if the part does not say.
type TextState string

// The states of text and reasoning parts.
const (
	TextStreaming TextState = "streaming"
	TextDone      TextState = "done"
)

// Text is text of the message itself.
//
//codec:type text
type Text struct {
	Text             string          `codec:"text,required"`
	State            TextState       `codec:"state,omitempty,nullable"`
	ProviderMetadata json.RawMessage `codec:"providerMetadata"`
	Extra            []Member
}

// Reasoning is what the model thought.
//
//codec:type reasoning
type Reasoning struct {
	ID               Optional[string] `codec:"id"`
	Text             string           `codec:"text,required"`
	State            TextState        `codec:"state,omitempty,nullable"`
	ProviderMetadata json.RawMessage  `codec:"providerMetadata"`
	Extra            []Member
}

// SourceURL is a link that the model used.
//
//codec:type source-url
type SourceURL struct {
	SourceID         string           `codec:"sourceId,required"`
	URL              string           `codec:"url,required"`
	Title            Optional[string] `codec:"title"`
	ProviderMetadata json.RawMessage  `codec:"providerMetadata"`
	Extra            []Member
}

// SourceDocument is a document that the model used.
//
//codec:type source-document
type SourceDocument struct {
	SourceID         string           `codec:"sourceId,required"`
	MediaType        string           `codec:"mediaType,required"`
	Title            string           `codec:"title,required"`
	Filename         Optional[string] `codec:"filename"`
	ProviderMetadata json.RawMessage  `codec:"providerMetadata"`
	Extra            []Member
}

// File is a file by URL, which may be a data URL.
//
//codec:type file
type File struct {
	MediaType        string           `codec:"mediaType,required"`
	Filename         Optional[string] `codec:"filename"`
	URL              string           `codec:"url,required"`
	ProviderMetadata json.RawMessage  `codec:"providerMetadata"`
	Extra            []Member
}

// Data is an application's own part, of type `data-<Name>`.
//
//codec:type
type Data struct {
	Name  string
	ID    Optional[string] `codec:"id"`
	Data  json.RawMessage  `codec:"data"`
	Extra []Member
}

// StepStart is the border between two model calls of one message.
//
//codec:type step-start
type StepStart struct {
	Extra []Member
}

// Unknown is a part of a type this package does not know, kept whole.
type Unknown struct {
	// Name is the `type` member, empty if it is missing or not a string.
	Name string
	Raw  json.RawMessage
}

const prefixData = "data-"

// Type implements [Part].
func (p Data) Type() string { return prefixData + p.Name }

// Type implements [Part].
func (p Unknown) Type() string { return p.Name }

func (Unknown) part() {}
