package uimessage

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// ErrNoMessages is the error of Validate for an absent or null list.
var ErrNoMessages = errors.New("messages must be given")

// Schema checks a value against an application's schema. Nil means that the
// member is absent. The value must not be changed or kept.
type Schema func(value json.RawMessage) error

// check returns a *SchemaError if there is a schema that the value does not fit.
func (s Schema) check(value json.RawMessage, path, name string) error {
	if s == nil {
		return nil
	}
	if err := s(value); err != nil {
		return &SchemaError{Path: path, Name: name, Err: err}
	}
	return nil
}

// ToolSchemas are the schemas of a tool. A nil schema accepts everything.
type ToolSchemas struct {
	Input  Schema
	Output Schema
}

// ValidateOptions are the schemas of an application. Nil members are not checked.
type ValidateOptions struct {
	// Metadata checks the metadata of every message.
	Metadata Schema
	// Data checks data parts by name; a name without a schema is an error.
	Data map[string]Schema
	// Tools checks static tool parts by name. A settled call becomes a dynamic part if
	// its tool is missing here or no longer accepts the old input.
	Tools map[string]ToolSchemas
}

// SchemaError is a value that does not fit its schema.
type SchemaError struct {
	// Path leads to the value, as in `[0].parts[1].input`.
	Path string
	// Name is the name of the tool or data part, if the error is about one.
	Name string
	Err  error
}

// Error implements error.
func (e *SchemaError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s (%s): %v", e.Path, e.Name, e.Err)
}

// Unwrap returns the error of the schema.
func (e *SchemaError) Unwrap() error { return e.Err }

// The faults that are not found by a schema.
var (
	errNoDataSchema = errors.New("no schema for this data part")
	errNoToolSchema = errors.New("no schema for this tool")
	errOtherInput   = errors.New("the input is not the one that was asked about")
)

// Validate reads the messages of a request as safeValidateUIMessages of the SDK
// does. It is stricter than Decode and drops the members that the SDK's schemas do not
// know. The error is ErrNoMessages, a *DecodeError or a *SchemaError.
func Validate(raw []byte, opts ValidateOptions) ([]Message, error) {
	if k := rawjson.KindOf(raw); k == rawjson.None || k == rawjson.Null {
		return nil, ErrNoMessages
	}
	list, err := decodeList(raw, validMessage)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &DecodeError{Reason: "want at least one message"}
	}
	for i := range list {
		if err := opts.check(&list[i], rawjson.Index("", i)); err != nil {
			return nil, err
		}
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

// check checks a message against the application's schemas and normalizes its tool
// parts.
func (o *ValidateOptions) check(m *Message, path string) error {
	if err := o.Metadata.check(m.Metadata, path+".metadata", ""); err != nil {
		return err
	}
	for i, part := range m.Parts {
		at := path + rawjson.Index(".parts", i)
		switch p := part.(type) {
		case Data:
			if err := o.checkData(p, at); err != nil {
				return err
			}
		case Tool:
			checked, err := o.checkTool(p, at)
			if err != nil {
				return err
			}
			m.Parts[i] = checked
		case Text, Reasoning, SourceURL, SourceDocument, File, StepStart, Unknown:
		}
	}
	return nil
}

func (o *ValidateOptions) checkData(p Data, path string) error {
	schema, ok := o.Data[p.Name]
	if !ok && o.Data != nil {
		return &SchemaError{Path: path + ".data", Name: p.Name, Err: errNoDataSchema}
	}
	return schema.check(p.Data, path+".data", p.Name)
}

func (o *ValidateOptions) checkTool(p Tool, path string) (Tool, error) {
	if o.Tools == nil || p.Dynamic {
		return p, nil
	}
	schemas, ok := o.Tools[p.Name]
	if !ok {
		if p.State.Settled() {
			return dynamic(p), nil
		}
		return p, &SchemaError{Path: path + ".input", Name: p.Name, Err: errNoToolSchema}
	}
	if p.State == ToolInputStreaming || p.State == ToolOutputError && len(p.Input) == 0 {
		return p, nil
	}
	inputErr := schemas.checkInput(p)
	switch {
	case inputErr == nil || p.State == ToolOutputAvailable && isEmptyObject(p.Input):
	case p.State == ToolOutputError:
		return dynamic(p), nil
	default:
		return p, &SchemaError{Path: path + ".input", Name: p.Name, Err: inputErr}
	}
	if p.State == ToolOutputAvailable {
		if err := schemas.Output.check(p.Output, path+".output", p.Name); err != nil {
			return p, err
		}
	}
	if inputErr != nil {
		return dynamic(p), nil
	}
	return p, nil
}

// checkInput also requires that the input that a person approved is the one that will run.
func (s ToolSchemas) checkInput(p Tool) error {
	shown := p.Input
	if p.Approval != nil && len(p.Approval.InputSchemaInput) > 0 {
		shown = p.Approval.InputSchemaInput
	}
	if s.Input != nil {
		if err := s.Input(shown); err != nil {
			return err
		}
	}
	if !rawjson.Equal(shown, p.Input) {
		return errOtherInput
	}
	return nil
}

// dynamic returns the call as a dynamic part that remembers that it was a static one.
func dynamic(p Tool) Tool {
	p.Dynamic, p.WasStatic = true, true
	return p
}

func isEmptyObject(v json.RawMessage) bool { return strings.TrimSpace(string(v)) == "{}" }
