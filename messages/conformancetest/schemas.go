package conformancetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

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

// Validate reads messages and checks them against the schemas of an application. The error is one of
// uimessage.Validate or a *SchemaError.
func Validate(raw []byte, opts ValidateOptions) ([]uimessage.Message, error) {
	list, err := uimessage.Validate(raw)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := opts.check(&list[i], rawjson.Index("", i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// check checks a message against the application's schemas and normalizes its tool
// parts.
func (o *ValidateOptions) check(m *uimessage.Message, path string) error {
	if err := o.Metadata.check(m.Metadata, path+".metadata", ""); err != nil {
		return err
	}
	for i, part := range m.Parts {
		at := path + rawjson.Index(".parts", i)
		switch p := part.(type) {
		case uimessage.Data:
			if err := o.checkData(p, at); err != nil {
				return err
			}
		case uimessage.Tool:
			checked, err := o.checkTool(p, at)
			if err != nil {
				return err
			}
			m.Parts[i] = checked
		case uimessage.Text, uimessage.Reasoning, uimessage.SourceURL, uimessage.SourceDocument, uimessage.File, uimessage.StepStart, uimessage.Unknown:
		}
	}
	return nil
}

func (o *ValidateOptions) checkData(p uimessage.Data, path string) error {
	schema, ok := o.Data[p.Name]
	if !ok && o.Data != nil {
		return &SchemaError{Path: path + ".data", Name: p.Name, Err: errNoDataSchema}
	}
	return schema.check(p.Data, path+".data", p.Name)
}

func (o *ValidateOptions) checkTool(p uimessage.Tool, path string) (uimessage.Tool, error) {
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
	if p.State == uimessage.ToolInputStreaming || p.State == uimessage.ToolOutputError && len(p.Input) == 0 {
		return p, nil
	}
	inputErr := schemas.checkInput(p)
	switch {
	case inputErr == nil || p.State == uimessage.ToolOutputAvailable && isEmptyObject(p.Input):
	case p.State == uimessage.ToolOutputError:
		return dynamic(p), nil
	default:
		return p, &SchemaError{Path: path + ".input", Name: p.Name, Err: inputErr}
	}
	if p.State == uimessage.ToolOutputAvailable {
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
func (s ToolSchemas) checkInput(p uimessage.Tool) error {
	shown := p.Input
	if p.Approval != nil && len(p.Approval.InputSchemaInput) > 0 {
		shown = p.Approval.InputSchemaInput
	}
	if s.Input != nil {
		if err := s.Input(shown); err != nil {
			return err
		}
	}
	if !equal(shown, p.Input) {
		return errOtherInput
	}
	return nil
}

// dynamic returns the call as a dynamic part that remembers that it was a static one.
func dynamic(p uimessage.Tool) uimessage.Tool {
	p.Dynamic, p.WasStatic = true, true
	return p
}

func isEmptyObject(v json.RawMessage) bool { return strings.TrimSpace(string(v)) == "{}" }

// equal reports whether two valid values are the same as JavaScript values: member order, layout and
// the spelling of numbers do not count. An absent value equals only an absent one.
func equal(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
