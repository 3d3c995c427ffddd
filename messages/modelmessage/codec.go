package modelmessage

import (
	"errors"
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

//go:generate go run ../internal/codecgen

// The errors about parts that no model message has.
var (
	errOutput = errors.New("unknown kind of tool output")
	errPart   = errors.New("no part to encode")
)

// MarshalJSON writes the message in the form of the SDK; equal messages give
// equal bytes.
func (m Message) MarshalJSON() ([]byte, error) {
	for _, p := range m.Parts {
		if err := encodable(p); err != nil {
			return nil, err
		}
	}
	return m.append(nil), nil
}

// UnmarshalJSON reads the form of the SDK. Members it does not know are dropped;
// parts it does not know are errors.
func (m *Message) UnmarshalJSON(b []byte) error {
	var out Message
	var r rawjson.Reader
	if out.read(&r, b); r.Err != nil {
		return r.Err
	}
	switch out.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		*m = out
		return nil
	}
	return fmt.Errorf("unknown role %q", out.Role)
}

func (m *Message) writeParts(w *rawjson.Writer) {
	if m.Parts == nil {
		w.Str("content", m.Text)
		return
	}
	w.Key("content")
	w.OpenList()
	for _, p := range m.Parts {
		w.Next()
		w.Buf = appendPart(w.Buf, p)
	}
	w.CloseList()
}

func (m *Message) readParts(r *rawjson.Reader, _, v []byte) {
	var text bool
	if m.Text, text = rawjson.Unquote(v); text || !r.Array("content", v) {
		return
	}
	m.Parts = []Part{}
	for i, e := range rawjson.Elements(v) {
		var at rawjson.Reader
		p := readPart(&at, rawjson.Text(e, "type"), e)
		if p == nil {
			at.Fail("type", "is not known")
		}
		r.Inside(rawjson.Index("content", i), at.Err)
		m.Parts = append(m.Parts, p)
	}
}

// EncodePart writes one part in the form of the SDK, its type first.
func EncodePart(p Part) ([]byte, error) {
	if err := encodable(p); err != nil {
		return nil, err
	}
	return appendPart(nil, p), nil
}

// encodable returns why a part cannot be encoded, or nil.
func encodable(p Part) error {
	if p == nil {
		return errPart
	}
	if result, ok := p.(ToolResult); ok {
		return result.Output.known()
	}
	return nil
}

func (r *ToolResult) writeOutput(w *rawjson.Writer) {
	w.Key("output")
	w.Buf = r.Output.append(w.Buf)
}

func (r *ToolResult) readOutput(at *rawjson.Reader, _, v []byte) {
	at.Inside("output", r.Output.UnmarshalJSON(v))
}

// known returns an error unless the output is of a known kind.
func (o Output) known() error {
	switch o.Type {
	case OutputText, OutputJSON, OutputErrorText, OutputErrorJSON, OutputContent, OutputExecutionDenied:
		return nil
	}
	return fmt.Errorf("%w: %q", errOutput, o.Type)
}

// MarshalJSON writes the output in the form of the SDK.
func (o Output) MarshalJSON() ([]byte, error) { return o.append(nil), o.known() }

// UnmarshalJSON reads the form of the SDK.
func (o *Output) UnmarshalJSON(b []byte) error {
	var out Output
	var r rawjson.Reader
	out.read(&r, b)
	switch out.Type {
	case OutputText, OutputErrorText:
		r.Str("value", out.JSON, &out.Text)
		out.JSON = nil
	case OutputExecutionDenied:
		out.JSON = nil
	case OutputJSON, OutputErrorJSON, OutputContent:
	}
	if r.Err != nil {
		return r.Err
	}
	*o = out
	return out.known()
}

func (o *Output) writeJSON(w *rawjson.Writer) {
	switch o.Type {
	case OutputText, OutputErrorText:
		w.Str("value", o.Text)
	case OutputJSON, OutputErrorJSON, OutputContent:
		w.Raw("value", o.JSON)
	case OutputExecutionDenied:
	}
}

// readJSON keeps the value until the type is known.
func (o *Output) readJSON(_ *rawjson.Reader, _, v []byte) { o.JSON = rawjson.Compact(v) }
