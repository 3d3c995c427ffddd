package uimessage

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

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

// DecodeList reads a JSON array of messages, under the rules of Decode.
func DecodeList(data []byte) ([]Message, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, &DecodeError{Reason: err.Error()}
	}
	if rawjson.KindOf(data) != rawjson.Array {
		return nil, &DecodeError{Reason: "want an array of messages"}
	}
	list := []Message{}
	for i, v := range rawjson.Elements(data) {
		m, err := decodeMessage(v)
		if err != nil {
			return nil, rawjson.Within(rawjson.Index("", i), err)
		}
		list = append(list, m)
	}
	return list, nil
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
	if rawjson.KindOf(data) != rawjson.Object {
		return Message{}, &DecodeError{Reason: "want an object"}
	}
	var m Message
	r := reader{}
	for k, v := range rawjson.Members(data) {
		switch string(k) {
		case "id":
			r.Str("id", v, &m.ID)
		case "role":
			var role string
			r.Str("role", v, &role)
			m.Role = Role(role)
		case "metadata":
			m.Metadata = rawjson.Compact(v)
		case "parts":
			m.Parts = r.parts(v)
		default:
			rawjson.Extra(&m.Extra, k, v)
		}
		if r.Err != nil {
			return Message{}, r.Err
		}
	}
	if m.Role == "" {
		return Message{}, &DecodeError{Path: "role", Reason: "want a role"}
	}
	return m, nil
}

// reader decodes members below a path and keeps the first fault.
type reader struct {
	rawjson.Reader
}

func (r *reader) parts(v []byte) []Part {
	switch rawjson.KindOf(v) {
	case rawjson.Null:
		return nil
	case rawjson.Array:
	default:
		r.Fail("parts", "want an array")
		return nil
	}
	parts := []Part{}
	for i, e := range rawjson.Elements(v) {
		p, err := decodePart(e)
		if err != nil {
			r.Err = rawjson.Within(rawjson.Index("parts", i), err)
			return nil
		}
		parts = append(parts, p)
	}
	return parts
}

func decodePart(v []byte) (Part, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return nil, &DecodeError{Reason: "want an object"}
	}
	name := ""
	if t, ok := rawjson.Lookup(v, "type"); ok {
		name, _ = rawjson.Unquote(t)
	}
	r := reader{}
	var p Part
	switch {
	case name == typeText:
		p = r.text(v)
	case name == typeReasoning:
		p = r.reasoning(v)
	case name == typeDynamicTool || strings.HasPrefix(name, prefixTool):
		p = r.tool(v, name)
	case name == typeStepStart:
		p = StepStart{Extra: r.rest(v)}
	case strings.HasPrefix(name, prefixData):
		p = r.data(v, name)
	case name == typeFile:
		p = r.file(v)
	case name == typeSourceURL:
		p = r.sourceURL(v)
	case name == typeSourceDocument:
		p = r.sourceDocument(v)
	default:
		p = Unknown{Name: name, Raw: rawjson.Compact(v)}
	}
	return p, r.Err
}

func (r *reader) text(v []byte) Part {
	var p Text
	seen := false
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "text":
			r.Str("text", v, &p.Text)
			seen = true
		case "state":
			r.Word(&p.Extra, k, v, (*string)(&p.State))
		case "providerMetadata":
			p.ProviderMetadata = rawjson.Compact(v)
		default:
			rawjson.Extra(&p.Extra, k, v)
		}
	}
	r.Need(seen, "text")
	return p
}

func (r *reader) reasoning(v []byte) Part {
	var p Reasoning
	seen := false
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "id":
			r.Opt(&p.Extra, k, v, &p.ID)
		case "text":
			r.Str("text", v, &p.Text)
			seen = true
		case "state":
			r.Word(&p.Extra, k, v, (*string)(&p.State))
		case "providerMetadata":
			p.ProviderMetadata = rawjson.Compact(v)
		default:
			rawjson.Extra(&p.Extra, k, v)
		}
	}
	r.Need(seen, "text")
	return p
}

func (r *reader) sourceURL(v []byte) Part {
	var p SourceURL
	seen := 0
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "sourceId":
			r.Str("sourceId", v, &p.SourceID)
			seen |= 1
		case "url":
			r.Str("url", v, &p.URL)
			seen |= 2
		case "title":
			r.Opt(&p.Extra, k, v, &p.Title)
		case "providerMetadata":
			p.ProviderMetadata = rawjson.Compact(v)
		default:
			rawjson.Extra(&p.Extra, k, v)
		}
	}
	r.Need(seen&1 != 0, "sourceId")
	r.Need(seen&2 != 0, "url")
	return p
}

func (r *reader) sourceDocument(v []byte) Part {
	var p SourceDocument
	seen := 0
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "sourceId":
			r.Str("sourceId", v, &p.SourceID)
			seen |= 1
		case "mediaType":
			r.Str("mediaType", v, &p.MediaType)
			seen |= 2
		case "title":
			r.Str("title", v, &p.Title)
			seen |= 4
		case "filename":
			r.Opt(&p.Extra, k, v, &p.Filename)
		case "providerMetadata":
			p.ProviderMetadata = rawjson.Compact(v)
		default:
			rawjson.Extra(&p.Extra, k, v)
		}
	}
	r.Need(seen&1 != 0, "sourceId")
	r.Need(seen&2 != 0, "mediaType")
	r.Need(seen&4 != 0, "title")
	return p
}

func (r *reader) file(v []byte) Part {
	var p File
	seen := 0
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "mediaType":
			r.Str("mediaType", v, &p.MediaType)
			seen |= 1
		case "url":
			r.Str("url", v, &p.URL)
			seen |= 2
		case "filename":
			r.Opt(&p.Extra, k, v, &p.Filename)
		case "providerMetadata":
			p.ProviderMetadata = rawjson.Compact(v)
		default:
			rawjson.Extra(&p.Extra, k, v)
		}
	}
	r.Need(seen&1 != 0, "mediaType")
	r.Need(seen&2 != 0, "url")
	return p
}

func (r *reader) data(v []byte, name string) Part {
	p := Data{Name: name[len(prefixData):]}
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "id":
			r.Opt(&p.Extra, k, v, &p.ID)
		case "data":
			p.Data = rawjson.Compact(v)
		default:
			rawjson.Extra(&p.Extra, k, v)
		}
	}
	return p
}

func (r *reader) rest(v []byte) []Member {
	var list []Member
	for k, v := range rawjson.Members(v) {
		if string(k) != "type" {
			rawjson.Extra(&list, k, v)
		}
	}
	return list
}
