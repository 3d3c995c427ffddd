package uimessage_test

import (
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

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
			_, err := uimessage.Validate([]byte(tt.in))
			if fault, ok := errors.AsType[*uimessage.DecodeError](err); !ok || fault.Path != tt.path {
				t.Errorf("got %v, want a fault at %q", err, tt.path)
			}
		})
	}
	for _, in := range []string{"", "null"} {
		if _, err := uimessage.Validate([]byte(in)); !errors.Is(err, uimessage.ErrNoMessages) {
			t.Errorf("Validate(%q): got %v, want ErrNoMessages", in, err)
		}
	}
}
