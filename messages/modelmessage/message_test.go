package modelmessage

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestCodecKeeps writes what was read and wants the same bytes.
func TestCodecKeeps(t *testing.T) {
	tests := []struct{ name, in string }{
		{"string content", `{"role":"user","content":"hi <b>&"}`},
		{"empty string content", `{"role":"assistant","content":""}`},
		{"no parts", `{"role":"user","content":[]}`},
		{"system with options", `{"role":"system","content":"s","providerOptions":{"p":{"k":1}}}`},
		{"texts", `{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"a","providerOptions":null}]}`},
		{"reasoning", `{"role":"assistant","content":[{"type":"reasoning","text":"hm","providerOptions":{"a":{"s":"x"}}}]}`},
		{"image", `{"role":"user","content":[{"type":"image","image":"https://a.test/x.png"}]}`},
		{"file", `{"role":"user","content":[{"type":"file","mediaType":"text/plain","filename":"","data":"AAAA"}]}`},
		{"call", `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{"b":1,"a":2},"providerExecuted":false}]}`},
		{"call without input", `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t"}]}`},
		{"call without name", `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","input":{}}]}`},
		{"call with empty name", `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"","input":{}}]}`},
		{"call with null input", `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":null}]}`},
		{"text output", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":""}}]}`},
		{"json output", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"json","value":null}}]}`},
		{"error outputs", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"error-text","value":"x"}},{"type":"tool-result","toolCallId":"d","toolName":"t","output":{"type":"error-json","value":[1.50]}}]}`},
		{"content output", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"content","value":[{"type":"text","text":"a"}]}}]}`},
		{"denied output", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"execution-denied","reason":"no"}},{"type":"tool-result","toolCallId":"d","toolName":"t","output":{"type":"execution-denied"}}]}`},
		{"approval", `{"role":"assistant","content":[{"type":"tool-approval-request","approvalId":"a","toolCallId":"c","signature":"s","inputSchemaInput":{"n":"1"}}]}`},
		{"answer", `{"role":"tool","content":[{"type":"tool-approval-response","approvalId":"a","approved":false,"reason":"","providerExecuted":true}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Message
			stdtest.Must(t, json.Unmarshal([]byte(tt.in), &m))
			got, err := m.MarshalJSON()
			stdtest.Must(t, err)
			stdtest.Diff(t, "written differently", tt.in, string(got))
		})
	}
}

func TestCodecRefuses(t *testing.T) {
	tests := []struct{ name, in string }{
		{"role", `{"role":"robot","content":"x"}`},
		{"content", `{"role":"user","content":7}`},
		{"no content", `{"role":"user"}`},
		{"part type", `{"role":"user","content":[{"type":"hologram"}]}`},
		{"part", `{"role":"user","content":[7]}`},
		{"output kind", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"smoke"}}]}`},
		{"result without output", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t"}]}`},
		{"text output without value", `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text"}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Message
			if err := json.Unmarshal([]byte(tt.in), &m); err == nil {
				t.Errorf("read %s as %+v, want an error", tt.in, m)
			}
		})
	}
	if b, err := (Output{Type: "smoke"}).MarshalJSON(); err == nil {
		t.Errorf("wrote %s, want an error", b)
	}
	if b, err := (Message{Role: RoleUser, Parts: []Part{nil}}).MarshalJSON(); err == nil {
		t.Errorf("wrote %s, want an error", b)
	}
}

// FuzzMessage checks that what was read once is read back the same.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":[{"type":"text","text":"a"}]}`))
	f.Add([]byte(`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"json","value":{}}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var m Message
		if json.Unmarshal(in, &m) != nil {
			return
		}
		first, err := m.MarshalJSON()
		if err != nil {
			t.Fatalf("cannot write %q: %v", in, err)
		}
		var again Message
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("cannot read back %s: %v", first, err)
		}
		second, err := again.MarshalJSON()
		if err != nil || string(first) != string(second) {
			t.Fatalf("%s became %s (%v)", first, second, err)
		}
	})
}
