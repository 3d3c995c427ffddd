package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const sendSchema = `{"type":"object","properties":{"text":{"type":"string"},"kind":{"enum":["photo","voice"]},
	"n":{"type":"integer","minimum":1}},"required":["text"],"additionalProperties":false}`

func TestSchemaValidate(t *testing.T) {
	tests := []struct {
		name  string
		input string
		want  []string // parts of the message; none: valid
	}{
		{"valid", `{"text":"hi","n":2}`, nil},
		{"a large number stays exact", `{"text":"hi","n":123456789012345678901234567890}`, nil},
		{"missing", `{}`, []string{"the input", "missing property", "text"}},
		{"wrong type", `{"text":7}`, []string{"/text", "got number, want string"}},
		{"not in the list", `{"text":"","kind":"film"}`, []string{"/kind", "'photo'", "'voice'"}},
		{"unknown property", `{"text":"","txt":""}`, []string{"additional properties", "txt"}},
		{"several", `{"kind":"x","n":0}`, []string{"/kind", "/n", "missing property"}},
		{"not JSON", `{"text":`, []string{"not valid JSON"}},
		{"two values", `{"text":""} {}`, []string{"not valid JSON"}},
		{"nothing", ``, []string{"not valid JSON"}},
		{"not an object", `[]`, []string{"got array, want object"}},
	}
	s, err := tool.NewSchema(json.RawMessage(sendSchema))
	stdtest.Must(t, err)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := s.Validate(json.RawMessage(tt.input))
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("Validate(%s) = %v, want valid", tt.input, err)
				}
				return
			}
			if !errors.Is(err, tool.ErrInput) {
				t.Fatalf("Validate(%s) = %v, want %v", tt.input, err, tool.ErrInput)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestSchemaFaultsAreBounded(t *testing.T) {
	s, err := tool.NewSchema(json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`))
	stdtest.Must(t, err)
	input := map[string]int{}
	for i := range 100 {
		input[strings.Repeat("k", 300)+string(rune('0'+i))] = i
	}
	raw, err := json.Marshal(input)
	stdtest.Must(t, err)
	if err := s.Validate(raw); len(err.Error()) > 2000 || !strings.Contains(err.Error(), "more") {
		t.Errorf("message of %d bytes does not stay short: %.300s", len(err.Error()), err)
	}
}

func TestSchemaStaysInside(t *testing.T) {
	for name, ref := range map[string]string{
		"a file": "file:///etc/passwd", "another host": "http://127.0.0.1:1/x.json", "a relative one": "other.json",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := tool.NewSchema(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"` + ref + `"}}}`))
			stdtest.Must(t, err)
			if err := s.Validate(json.RawMessage(`{"a":1}`)); !errors.Is(err, tool.ErrSchema) {
				t.Errorf("Validate = %v, want %v", err, tool.ErrSchema)
			}
		})
	}
}

func TestSetValidate(t *testing.T) {
	odd := &tooltest.Tool{S: tool.Spec{Name: "odd", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"("}}}`)}}
	s, err := tool.NewSet(tooltest.New("files:read", nil), odd)
	stdtest.Must(t, err)
	if err := s.Validate("files:read", json.RawMessage(`{}`)); err != nil {
		t.Errorf("a valid input: %v", err)
	}
	err = s.Validate("files:rread", json.RawMessage(`{}`))
	if !errors.Is(err, tool.ErrUnknown) || !strings.Contains(err.Error(), "files_read, odd") {
		t.Errorf("an unknown tool: %v; want the names that the model may use", err)
	}
	if err := s.Validate("odd", json.RawMessage(`{}`)); !errors.Is(err, tool.ErrSchema) {
		t.Errorf("a schema that cannot be compiled: %v", err)
	}
	if err := s.Check(); !errors.Is(err, tool.ErrSchema) || !strings.Contains(err.Error(), "odd") {
		t.Errorf("Check = %v, want it to name the tool", err)
	}
}
