package uimessage

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

//go:generate go run ../internal/codecgen

// ErrInvalid is the sentinel under every error about a message that cannot be read.
var ErrInvalid = rawjson.ErrInvalid

// DecodeError says where a message is malformed: the Path of the fault, as in
// `parts[2].toolCallId`, and the Reason. It unwraps to ErrInvalid and quotes
// nothing of the message's contents.
type DecodeError = rawjson.Fault

// Decode reads one message. The result shares no memory with data. It accepts
// what the SDK's converter works with: a missing id reads as empty, missing or
// null parts as nil, and an optional member that is null is kept in Extra.
// Any other fault is a *DecodeError.
func Decode(data []byte) (Message, error) {
	if err := rawjson.Check(data); err != nil {
		return Message{}, &DecodeError{Reason: err.Error()}
	}
	return decodeMessage(data)
}

// DecodePart reads one part, under the rules of Decode.
func DecodePart(data []byte) (Part, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, &DecodeError{Reason: err.Error()}
	}
	return decodePart(data)
}

// UnmarshalJSON implements json.Unmarshaler, under the rules of Decode.
func (m *Message) UnmarshalJSON(data []byte) error {
	decoded, err := Decode(data)
	if err != nil {
		return err
	}
	*m = decoded
	return nil
}

func decodeMessage(data []byte) (Message, error) {
	var m Message
	var r rawjson.Reader
	if m.read(&r, data); r.Err != nil {
		return Message{}, r.Err
	}
	if m.Role == "" {
		return Message{}, &DecodeError{Path: "role", Reason: "want a role"}
	}
	return m, nil
}

func (m *Message) readParts(r *rawjson.Reader, _, v []byte) {
	m.Parts = nil
	if rawjson.KindOf(v) == rawjson.Null || !r.Array("parts", v) {
		return
	}
	parts := []Part{} // a local variable, whose first elements need no allocation
	for i, e := range rawjson.Elements(v) {
		p, err := decodePart(e)
		if err != nil {
			r.Inside(rawjson.Index("parts", i), err)
			return
		}
		parts = append(parts, p)
	}
	m.Parts = parts
}

func decodePart(v []byte) (Part, error) {
	var r rawjson.Reader
	if !r.Object(v) {
		return nil, r.Err
	}
	name := rawjson.Text(v, "type")
	if p, ok := readTool(&r, name, v); ok {
		return p, r.Err
	}
	if rest, ok := strings.CutPrefix(name, prefixData); ok {
		p := Data{Name: rest}
		p.read(&r, v)
		return p, r.Err
	}
	if p := readPart(&r, name, v); p != nil {
		return p, r.Err
	}
	return Unknown{Name: name, Raw: rawjson.Compact(v)}, nil
}

// AppendJSON appends m as one line of JSON and returns the extended slice. The
// order of members is fixed, unknown ones follow the known ones, and metadata is
// always the last. A raw value that is not JSON is written as a string of its bytes.
func AppendJSON(dst []byte, m Message) []byte { return m.append(dst) }

func (m *Message) writeParts(w *rawjson.Writer) {
	if m.Parts != nil {
		w.Key("parts")
		w.Buf = AppendParts(w.Buf, m.Parts)
	}
}

// AppendParts appends the parts as a JSON array.
func AppendParts(dst []byte, parts []Part) []byte {
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendPart(dst, p)
	}
	return append(dst, ']')
}

// AppendPart appends one part as JSON; a nil part is null.
func AppendPart(dst []byte, part Part) []byte {
	switch p := part.(type) {
	case nil:
		return append(dst, "null"...)
	case Unknown:
		return rawjson.Append(dst, p.Raw)
	default:
		return appendPart(dst, part)
	}
}

// MarshalJSON implements json.Marshaler with the bytes of AppendJSON.
func (m Message) MarshalJSON() ([]byte, error) { return AppendJSON(nil, m), nil }
