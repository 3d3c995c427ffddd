package uimessage_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

var errNoCity = errors.New("no city")

// wantsCity accepts objects with a city.
func wantsCity(v json.RawMessage) error {
	var in struct {
		City string `json:"city"`
	}
	if err := json.Unmarshal(v, &in); err != nil || in.City == "" {
		return errNoCity
	}
	return nil
}

func call(state, rest string) string {
	return `[{"id":"a","role":"assistant","parts":[{"type":"tool-weather","toolCallId":"c","state":"` + state + `"` + rest + `}]}]`
}

func TestValidateFaults(t *testing.T) {
	tests := []struct{ name, in, path string }{
		{"no messages", `[]`, ""},
		{"an object", `{}`, ""},
		{"no JSON", `[{]`, ""},
		{"id missing", `[{"role":"user","parts":[{"type":"text","text":"a"}]}]`, "[0].id"},
		{"user says nothing", `[{"id":"u","role":"user","parts":[]}]`, "[0].parts"},
		{"unknown part", `[{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"hologram"}]}]`, "[0].parts[1].type"},
		{"state unknown", call("result", `,"input":{}`), "[0].parts[0].type"},
		{"output too early", call("input-available", `,"input":{},"output":null`), "[0].parts[0].output"},
		{"refused, yet done", call("output-available", `,"input":{},"output":1,"approval":{"id":"p","approved":false}`), "[0].parts[0].approval"},
		{"metadata two levels short", `[{"id":"a","role":"assistant","parts":[{"type":"text","text":"a","providerMetadata":{"p":1}}]}]`, "[0].parts[0].providerMetadata"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := uimessage.Validate([]byte(tt.in), uimessage.ValidateOptions{})
			if fault, ok := errors.AsType[*uimessage.DecodeError](err); !ok || fault.Path != tt.path {
				t.Errorf("got %v, want a fault at %q", err, tt.path)
			}
		})
	}
	for _, in := range []string{"", "null"} {
		if _, err := uimessage.Validate([]byte(in), uimessage.ValidateOptions{}); !errors.Is(err, uimessage.ErrNoMessages) {
			t.Errorf("Validate(%q): got %v, want ErrNoMessages", in, err)
		}
	}
}

func TestValidateAgainstSchemas(t *testing.T) {
	opts := uimessage.ValidateOptions{
		Metadata: func(v json.RawMessage) error {
			if v != nil && v[0] != '{' {
				return errors.New("want an object")
			}
			return nil
		},
		Data:  map[string]uimessage.Schema{"place": wantsCity, "any": nil},
		Tools: map[string]uimessage.ToolSchemas{"weather": {Input: wantsCity, Output: wantsCity}},
	}
	tests := []struct{ name, in, path string }{
		{"fits", call("output-available", `,"input":{"city":"P"},"output":{"city":"P"}`), ""},
		{"open call does not fit", call("input-available", `,"input":{}`), "[0].parts[0].input"},
		{"streaming input is not looked at", call("input-streaming", `,"input":{}`), ""},
		{"output does not fit", call("output-available", `,"input":{"city":"P"},"output":1`), "[0].parts[0].output"},
		{"asked about other bytes", call("approval-requested", `,"input":{"city":"P"},"approval":{"id":"p","inputSchemaInput":{"city":"Q"}}`), "[0].parts[0].input"},
		{"metadata does not fit", `[{"id":"a","role":"assistant","parts":[],"metadata":1}]`, "[0].metadata"},
		{"data does not fit", `[{"id":"a","role":"assistant","parts":[{"type":"data-place","data":{}}]}]`, "[0].parts[0].data"},
		{"data without a schema", `[{"id":"a","role":"assistant","parts":[{"type":"data-other","data":{}}]}]`, "[0].parts[0].data"},
		{"data with any schema", `[{"id":"a","role":"assistant","parts":[{"type":"data-any","data":{}}]}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := uimessage.Validate([]byte(tt.in), opts)
			fault, ok := errors.AsType[*uimessage.SchemaError](err)
			if tt.path == "" && err != nil || tt.path != "" && (!ok || fault.Path != tt.path) {
				t.Errorf("got %v, want a fault at %q", err, tt.path)
			}
		})
	}
}

// A settled call that its tool no longer takes is kept as a dynamic part.
func TestValidateMakesOldCallsDynamic(t *testing.T) {
	for name, tools := range map[string]map[string]uimessage.ToolSchemas{
		"tool is gone": {}, "tool has changed": {"weather": {Input: wantsCity}},
	} {
		list, err := uimessage.Validate([]byte(call("output-error", `,"input":{"town":"P"},"errorText":"e","title":"dropped"`)), uimessage.ValidateOptions{Tools: tools})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := `{"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"weather","dynamic":false,"toolCallId":"c","state":"output-error","input":{"town":"P"},"errorText":"e"}]}`
		if got := string(uimessage.AppendJSON(nil, list[0])); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
