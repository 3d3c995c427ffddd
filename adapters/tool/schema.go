package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// maxFaults is how many faults of one input are reported to the model.
	maxFaults = 5
	// maxFault is the longest text of one fault in bytes.
	maxFault = 200
)

// Schema checks inputs against a JSON Schema. It is compiled once, when first used, and is safe for concurrent use.
type Schema struct {
	compiled func() (*jsonschema.Schema, error)
}

// NewSchema takes a JSON Schema of type object. Its errors wrap [ErrSchema]. Faults that only compilation finds are
// reported by [Schema.Compile] and [Schema.Validate].
func NewSchema(raw json.RawMessage) (*Schema, error) {
	var head struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if head.Type != "object" {
		return nil, fmt.Errorf(`%w: its type has to be "object"`, ErrSchema)
	}
	raw = slices.Clone(raw)
	return &Schema{compiled: sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(raw) })}, nil
}

// Compile checks that the schema can be used. Its errors wrap [ErrSchema].
func (s *Schema) Compile() error {
	_, err := s.compiled()
	return err
}

// Validate checks an input. An error that wraps [ErrInput] describes the faults so that the model can correct its
// call; one that wraps [ErrSchema] means that the schema is unusable.
func (s *Schema) Validate(input json.RawMessage) error {
	schema, err := s.compiled()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return fmt.Errorf("%w: it is not valid JSON (%s)", ErrInput, clip(err.Error(), maxFault))
	}
	err = schema.Validate(value)
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return fmt.Errorf("%w: %s", ErrInput, faults(invalid))
}

func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	const url = "input.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return schema, nil
}

// nowhere is a loader that loads nothing: a schema may refer only to itself.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("references outside of the schema are not followed: %s", url)
}

// faults lists the leaves of a validation error.
func faults(err *jsonschema.ValidationError) string {
	printer := message.NewPrinter(language.English)
	var out []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		at := "the input"
		if len(e.InstanceLocation) > 0 {
			at = "/" + strings.Join(e.InstanceLocation, "/")
		}
		out = append(out, at+": "+e.ErrorKind.LocalizedString(printer))
	}
	walk(err)
	slices.Sort(out)
	out = slices.Compact(out)
	if more := len(out) - maxFaults; more > 0 {
		out = append(out[:maxFaults], fmt.Sprintf("and %d more", more))
	}
	for i := range out {
		out[i] = clip(out[i], maxFault)
	}
	return strings.Join(out, "; ")
}

// clip cuts s to at most limit bytes, at a rune boundary.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
