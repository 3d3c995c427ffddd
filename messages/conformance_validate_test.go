package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// schemaOf compiles a JSON schema; nil gives nil. An absent value matches a schema without
// requirements.
func schemaOf(t *testing.T, raw json.RawMessage) conformancetest.Schema {
	t.Helper()
	if raw == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	stdtest.Must(t, err)
	compiler := jsonschema.NewCompiler()
	stdtest.Must(t, compiler.AddResource("schema.json", doc))
	schema, err := compiler.Compile("schema.json")
	stdtest.Must(t, err)
	return func(v json.RawMessage) error {
		if v == nil && (schema.Types != nil || schema.Enum != nil) {
			return errors.New("value is missing")
		} else if v == nil {
			return nil
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(v))
		if err != nil {
			return fmt.Errorf("decode: %w", err)
		}
		return schema.Validate(value)
	}
}

func checkValidate(t *testing.T, file conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c struct {
		conformancetest.Head
		Messages json.RawMessage `json:"messages"`
		Either   bool            `json:"either"`
		Options  struct {
			MetadataSchema json.RawMessage            `json:"metadataSchema"`
			DataSchemas    map[string]json.RawMessage `json:"dataSchemas"`
			Tools          json.RawMessage            `json:"tools"`
		} `json:"options"`
		Expect struct {
			Success  bool            `json:"success"`
			Messages json.RawMessage `json:"messages"`
			Error    expectedError   `json:"error"`
		} `json:"expect"`
	}
	conformancetest.Decode(t, raw, &c)
	opts := conformancetest.ValidateOptions{Metadata: schemaOf(t, c.Options.MetadataSchema)}
	if c.Options.DataSchemas != nil {
		opts.Data = map[string]conformancetest.Schema{}
	}
	for name, schema := range c.Options.DataSchemas {
		opts.Data[name] = schemaOf(t, schema)
	}
	if specs := toolSet(t, file, c.Options.Tools); specs != nil {
		opts.Tools = map[string]conformancetest.ToolSchemas{}
		for name, spec := range specs {
			opts.Tools[name] = conformancetest.ToolSchemas{Input: schemaOf(t, spec.InputSchema), Output: schemaOf(t, spec.OutputSchema)}
		}
	}
	list, err := conformancetest.Validate(c.Messages, opts)
	if c.Either && (err == nil) != c.Expect.Success {
		return
	}
	if !c.Expect.Success {
		if got := validationErrorName(err); got != c.Expect.Error.Name {
			t.Errorf("got error %v (%s), want %s", err, got, c.Expect.Error.Name)
		}
		return
	}
	stdtest.Must(t, err)
	got, err := json.Marshal(list)
	stdtest.Must(t, err)
	same(t, "messages", got, c.Expect.Messages)
}

func validationErrorName(err error) string {
	_, shape := errors.AsType[*uimessage.DecodeError](err)
	_, schema := errors.AsType[*conformancetest.SchemaError](err)
	switch {
	case errors.Is(err, uimessage.ErrNoMessages):
		return "AI_InvalidArgumentError"
	case shape || schema:
		return "AI_TypeValidationError"
	default:
		return "none"
	}
}
