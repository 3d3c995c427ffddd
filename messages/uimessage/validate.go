package uimessage

import (
	"errors"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// ErrNoMessages is the error of Validate for an absent or null list.
var ErrNoMessages = errors.New("messages must be given")

// Validate reads the messages of a request as safeValidateUIMessages of the SDK
// does. It is stricter than Decode and drops the members that the SDK's schemas do not
// know. The error is ErrNoMessages or a *DecodeError.
func Validate(raw []byte) ([]Message, error) {
	if k := rawjson.KindOf(raw); k == rawjson.None || k == rawjson.Null {
		return nil, ErrNoMessages
	}
	if err := rawjson.Check(raw); err != nil {
		return nil, &DecodeError{Reason: err.Error()}
	}
	if rawjson.KindOf(raw) != rawjson.Array {
		return nil, &DecodeError{Reason: "want an array of messages"}
	}
	var list []Message
	for i, v := range rawjson.Elements(raw) {
		m, err := validMessage(v)
		if err != nil {
			return nil, rawjson.Within(rawjson.Index("", i), err)
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return nil, &DecodeError{Reason: "want at least one message"}
	}
	return list, nil
}

// validMessage checks the shape of a message and decodes what is known of it.
func validMessage(v []byte) (Message, error) {
	stripped, err := messageShape.strip(v)
	if err != nil {
		return Message{}, err
	}
	m := Message{ID: rawjson.Text(stripped, "id"), Role: Role(rawjson.Text(stripped, "role")), Parts: []Part{}}
	if metadata, ok := rawjson.Lookup(stripped, "metadata"); ok {
		m.Metadata = rawjson.Compact(metadata)
	}
	rawParts, _ := rawjson.Lookup(stripped, "parts")
	for i, e := range rawjson.Elements(rawParts) {
		p, err := validPart(e)
		if err != nil {
			return Message{}, rawjson.Within(rawjson.Index("parts", i), err)
		}
		m.Parts = append(m.Parts, p)
	}
	if len(m.Parts) == 0 && m.Role != RoleAssistant {
		return Message{}, &DecodeError{Path: "parts", Reason: "want at least one part"}
	}
	return m, nil
}

func validPart(v []byte) (Part, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return nil, &DecodeError{Reason: "want an object"}
	}
	t, _ := rawjson.Lookup(v, "type")
	name, ok := rawjson.Unquote(t)
	if !ok {
		return nil, &DecodeError{Path: "type", Reason: "want a string"}
	}
	s := shapeOf(name, ToolState(rawjson.Text(v, "state")))
	if s == "" {
		return nil, &DecodeError{Path: "type", Reason: "want a known type and state"}
	}
	stripped, err := s.strip(v)
	if err != nil {
		return nil, err
	}
	p, err := decodePart(stripped)
	if call, ok := p.(Tool); ok && call.Approval != nil {
		call.Approval.Extra = nil
		return call, err
	}
	return p, err
}
