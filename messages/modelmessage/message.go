// Package modelmessage is what a history looks like to a model: the model
// messages of the AI SDK 6.0.326, and the one conversion of UI messages to them.
//
// A message is a value. Nobody changes a part, a raw value or a slice after
// handing the message on; under that rule everything here is safe for concurrent
// use, and encoded forms may be kept and used again.
package modelmessage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Role says who speaks.
type Role string

// The roles of a model message.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one model message. Its content is either a string or parts, and the
// difference survives the codec.
type Message struct {
	Role Role
	// Text is the content if Parts is nil.
	Text string
	// Parts is the content unless it is nil; no parts at all are a slice of length 0.
	Parts []Part
	// ProviderOptions is nil when absent.
	ProviderOptions json.RawMessage
}

// Part is one part of a content: Text, Reasoning, Image, File, ToolCall,
// ToolResult, ApprovalRequest or ApprovalResponse, always as a value, never as a
// pointer. Raw members are nil when absent; null is the value null.
//
//sumtype:decl
type Part interface {
	// Type is the part's `type` member.
	Type() string

	part()
}

// Text is what was said.
type Text struct {
	Text            string          `json:"text"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// Reasoning is what the model thought.
type Reasoning struct {
	Text            string          `json:"text"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// Image is a picture: base64, a data URL or a link.
type Image struct {
	Image           string          `json:"image"`
	MediaType       string          `json:"mediaType,omitempty"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// File is any file: base64, a data URL or a link.
type File struct {
	MediaType       string          `json:"mediaType"`
	Filename        *string         `json:"filename,omitempty"`
	Data            string          `json:"data"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// ToolCall is a call that the model made.
type ToolCall struct {
	ToolCallID string
	ToolName   string
	// Nameless says that the call came without a name and is written so, which is
	// not the same as an empty name.
	Nameless         bool
	Input            json.RawMessage
	ProviderExecuted *bool
	ProviderOptions  json.RawMessage
}

// ToolResult answers a call.
type ToolResult struct {
	ToolCallID      string
	ToolName        string
	Nameless        bool // as in [ToolCall]
	Output          Output
	ProviderOptions json.RawMessage
}

// ApprovalRequest says that a call waits for a person.
type ApprovalRequest struct {
	ApprovalID       string          `json:"approvalId"`
	ToolCallID       string          `json:"toolCallId"`
	Signature        *string         `json:"signature,omitempty"`
	InputSchemaInput json.RawMessage `json:"inputSchemaInput,omitempty"`
}

// ApprovalResponse is what the person decided.
type ApprovalResponse struct {
	ApprovalID       string  `json:"approvalId"`
	Approved         bool    `json:"approved"`
	Reason           *string `json:"reason,omitempty"`
	ProviderExecuted *bool   `json:"providerExecuted,omitempty"`
}

type wireToolCall struct {
	ToolCallID       string          `json:"toolCallId"`
	ToolName         *string         `json:"toolName,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	ProviderExecuted *bool           `json:"providerExecuted,omitempty"`
	ProviderOptions  json.RawMessage `json:"providerOptions,omitempty"`
}

// MarshalJSON writes the members of the call without its type.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return encode(wireToolCall{c.ToolCallID, nameOf(c.ToolName, c.Nameless), c.Input, c.ProviderExecuted, c.ProviderOptions})
}

// UnmarshalJSON reads the form of the SDK.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var w wireToolCall
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*c = ToolCall{ToolCallID: w.ToolCallID, Nameless: w.ToolName == nil, Input: w.Input, ProviderExecuted: w.ProviderExecuted, ProviderOptions: w.ProviderOptions}
	if w.ToolName != nil {
		c.ToolName = *w.ToolName
	}
	return nil
}

type wireToolResult struct {
	ToolCallID      string          `json:"toolCallId"`
	ToolName        *string         `json:"toolName,omitempty"`
	Output          *Output         `json:"output"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// MarshalJSON writes the members of the result without its type.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	return encode(wireToolResult{r.ToolCallID, nameOf(r.ToolName, r.Nameless), &r.Output, r.ProviderOptions})
}

// UnmarshalJSON reads the form of the SDK. A result must have an output.
func (r *ToolResult) UnmarshalJSON(b []byte) error {
	var w wireToolResult
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	if w.Output == nil {
		return fmt.Errorf("%w: none", errOutput)
	}
	*r = ToolResult{ToolCallID: w.ToolCallID, Nameless: w.ToolName == nil, Output: *w.Output, ProviderOptions: w.ProviderOptions}
	if w.ToolName != nil {
		r.ToolName = *w.ToolName
	}
	return nil
}

func nameOf(name string, nameless bool) *string {
	if nameless && name == "" {
		return nil
	}
	return &name
}

// Type implements [Part].
func (Text) Type() string { return "text" }

// Type implements [Part].
func (Reasoning) Type() string { return "reasoning" }

// Type implements [Part].
func (Image) Type() string { return "image" }

// Type implements [Part].
func (File) Type() string { return "file" }

// Type implements [Part].
func (ToolCall) Type() string { return "tool-call" }

// Type implements [Part].
func (ToolResult) Type() string { return "tool-result" }

// Type implements [Part].
func (ApprovalRequest) Type() string { return "tool-approval-request" }

// Type implements [Part].
func (ApprovalResponse) Type() string { return "tool-approval-response" }

func (Text) part()             {}
func (Reasoning) part()        {}
func (Image) part()            {}
func (File) part()             {}
func (ToolCall) part()         {}
func (ToolResult) part()       {}
func (ApprovalRequest) part()  {}
func (ApprovalResponse) part() {}

// OutputType is the kind of a tool result.
type OutputType string

// The kinds of tool results and the member of [Output] that holds each.
const (
	OutputText            OutputType = "text"             // Text
	OutputJSON            OutputType = "json"             // JSON
	OutputErrorText       OutputType = "error-text"       // Text
	OutputErrorJSON       OutputType = "error-json"       // JSON
	OutputContent         OutputType = "content"          // JSON, an array of content parts
	OutputExecutionDenied OutputType = "execution-denied" // Reason
)

// Output is what a tool gave, in the form that the model reads.
type Output struct {
	Type OutputType
	Text string
	JSON json.RawMessage
	// Reason is nil when absent.
	Reason          *string
	ProviderOptions json.RawMessage
}

// errOutput is wrapped by errors about tool outputs of unknown kinds.
var errOutput = errors.New("unknown kind of tool output")

type wireOutput struct {
	Type            OutputType      `json:"type"`
	Value           json.RawMessage `json:"value,omitempty"`
	Reason          *string         `json:"reason,omitempty"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// MarshalJSON writes the output in the form of the SDK.
func (o Output) MarshalJSON() ([]byte, error) {
	w := wireOutput{Type: o.Type, Reason: o.Reason, ProviderOptions: o.ProviderOptions}
	var err error
	switch o.Type {
	case OutputText, OutputErrorText:
		w.Value, err = encode(o.Text)
	case OutputJSON, OutputErrorJSON, OutputContent:
		w.Value = o.JSON
	case OutputExecutionDenied:
	default:
		err = fmt.Errorf("%w: %q", errOutput, o.Type)
	}
	if err != nil {
		return nil, err
	}
	return encode(w)
}

// UnmarshalJSON reads the form of the SDK.
func (o *Output) UnmarshalJSON(b []byte) error {
	var w wireOutput
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*o = Output{Type: w.Type, Reason: w.Reason, ProviderOptions: w.ProviderOptions}
	switch w.Type {
	case OutputText, OutputErrorText:
		return json.Unmarshal(w.Value, &o.Text)
	case OutputJSON, OutputErrorJSON, OutputContent:
		o.JSON = w.Value
	case OutputExecutionDenied:
	default:
		return fmt.Errorf("%w: %q", errOutput, w.Type)
	}
	return nil
}

type wireMessage struct {
	Role            Role            `json:"role"`
	Content         json.RawMessage `json:"content"`
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
}

// MarshalJSON writes the message in the form of the SDK; equal messages give
// equal bytes.
func (m Message) MarshalJSON() ([]byte, error) {
	w := wireMessage{Role: m.Role, ProviderOptions: m.ProviderOptions}
	var err error
	if m.Parts == nil {
		w.Content, err = encode(m.Text)
	} else {
		w.Content, err = encodeParts(m.Parts)
	}
	if err != nil {
		return nil, err
	}
	return encode(w)
}

// UnmarshalJSON reads the form of the SDK. Members it does not know are dropped;
// parts it does not know are errors.
func (m *Message) UnmarshalJSON(b []byte) error {
	var w wireMessage
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	switch w.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
	default:
		return fmt.Errorf("unknown role %q", w.Role)
	}
	*m = Message{Role: w.Role, ProviderOptions: w.ProviderOptions}
	if len(w.Content) > 0 && w.Content[0] == '"' {
		return json.Unmarshal(w.Content, &m.Text)
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(w.Content, &raws); err != nil {
		return fmt.Errorf("content of a %s message: %w", w.Role, err)
	}
	m.Parts = make([]Part, len(raws))
	for i, raw := range raws {
		p, err := DecodePart(raw)
		if err != nil {
			return fmt.Errorf("part %d of a %s message: %w", i, w.Role, err)
		}
		m.Parts[i] = p
	}
	return nil
}

// EncodePart writes one part in the form of the SDK, its type first.
func EncodePart(p Part) ([]byte, error) {
	switch p := p.(type) {
	case Text:
		return encode(tagged[Text]{p.Type(), p})
	case Reasoning:
		return encode(tagged[Reasoning]{p.Type(), p})
	case Image:
		return encode(tagged[Image]{p.Type(), p})
	case File:
		return encode(tagged[File]{p.Type(), p})
	case ToolCall:
		return encode(tagged[ToolCall]{p.Type(), p})
	case ToolResult:
		return encode(tagged[ToolResult]{p.Type(), p})
	case ApprovalRequest:
		return encode(tagged[ApprovalRequest]{p.Type(), p})
	case ApprovalResponse:
		return encode(tagged[ApprovalResponse]{p.Type(), p})
	default:
		return nil, fmt.Errorf("no part to encode: %T", p)
	}
}

// tagged is a part with its type in front.
type tagged[P Part] struct {
	kind string
	part P
}

// MarshalJSON writes the type and then the members of the part.
func (t tagged[P]) MarshalJSON() ([]byte, error) {
	kind, err := encode(t.kind)
	if err != nil {
		return nil, err
	}
	body, err := encode(t.part)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(kind)+len(body)+len(`{"type":,`))
	out = append(out, `{"type":`...)
	out = append(out, kind...)
	out = append(out, ',')
	return append(out, body[1:]...), nil
}

// DecodePart reads one part in the form of the SDK.
func DecodePart(raw []byte) (Part, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case Text{}.Type():
		return decode[Text](raw)
	case Reasoning{}.Type():
		return decode[Reasoning](raw)
	case Image{}.Type():
		return decode[Image](raw)
	case File{}.Type():
		return decode[File](raw)
	case ToolCall{}.Type():
		return decode[ToolCall](raw)
	case ToolResult{}.Type():
		return decode[ToolResult](raw)
	case ApprovalRequest{}.Type():
		return decode[ApprovalRequest](raw)
	case ApprovalResponse{}.Type():
		return decode[ApprovalResponse](raw)
	default:
		return nil, fmt.Errorf("unknown part type %q", head.Type)
	}
}

func decode[P Part](raw []byte) (Part, error) {
	var p P
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	return p, nil
}

func encodeParts(parts []Part) ([]byte, error) {
	out := []byte{'['}
	for i, p := range parts {
		b, err := EncodePart(p)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}

// encode is json.Marshal without the escaping for web pages.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
