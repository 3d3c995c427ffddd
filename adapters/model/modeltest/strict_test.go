package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func messagesOf(t *testing.T, in string) []modelmessage.Message {
	t.Helper()
	var out []modelmessage.Message
	stdtest.Must(t, json.Unmarshal([]byte(in), &out))
	return out
}

func checkRules(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want+" ")):
		t.Errorf("got %v, want a fault of %s", err, want)
	}
}

const (
	userTurn = `{"role":"user","content":"hi"}`
	callTurn = `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"t","input":{}}]}`
	result   = `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"t","output":{"type":"text","value":"x"}}]}`
)

func TestStrictMessages(t *testing.T) {
	tests := []struct{ name, messages, want string }{
		{"question", `[` + userTurn + `]`, ""},
		{"merged turns", `[` + userTurn + `,` + userTurn + `]`, ""},
		{"leading summary", `[{"role":"assistant","content":"summary"},` + userTurn + `]`, ""},
		{"call and result", `[` + userTurn + `,` + callTurn + `,` + result + `]`, ""},
		{"empty result text", `[` + userTurn + `,` + callTurn + `,{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"t","output":{"type":"text","value":""}}]}]`, ""},
		{"picture alone", `[{"role":"user","content":[{"type":"file","mediaType":"image/png","data":"AAAA"}]}]`, ""},
		{"approval answer alone", `[` + userTurn + `,{"role":"tool","content":[{"type":"tool-approval-response","approvalId":"a","approved":true}]}]`, ""},
		{"none", `[]`, "S1"},
		{"late system", `[` + userTurn + `,{"role":"system","content":"s"}]`, "S3"},
		{"empty user", `[{"role":"user","content":""}]`, "S4"},
		{"user without parts", `[{"role":"user","content":[]}]`, "S4"},
		{"empty part", `[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"a"}]}]`, "S4"},
		{"empty assistant", `[` + userTurn + `,{"role":"assistant","content":[]}]`, "S4"},
		{"only reasoning", `[` + userTurn + `,{"role":"assistant","content":[{"type":"reasoning","text":"hm"}]}]`, "S4"},
		{"call without id", `[` + userTurn + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"","toolName":"t","input":{}}]}]`, "S5"},
		{"bad tool name", `[` + userTurn + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"a:b","input":{}}]},` + result + `]`, "S5"},
		{"arguments are text", `[` + userTurn + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"t","input":"{"}]},` + result + `]`, "S5"},
		{"arguments are missing", `[` + userTurn + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"t"}]},` + result + `]`, "S5"},
		{"id twice", `[` + userTurn + `,` + callTurn + `,` + result + `,` + callTurn + `,` + result + `]`, "S6"},
		{"no result at the end", `[` + userTurn + `,` + callTurn + `]`, "S7"},
		{"no result before a question", `[` + userTurn + `,` + callTurn + `,` + userTurn + `,` + result + `]`, "S7"},
		{"provider call", `[` + userTurn + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"t","input":{},"providerExecuted":true}]}]`, "S7"},
		{"result of nothing", `[` + userTurn + `,` + result + `]`, "S8"},
		{"result twice", `[` + userTurn + `,` + callTurn + `,` + result + `,` + result + `]`, "S8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkRules(t, Strict(model.Request{Messages: messagesOf(t, tt.messages)}), tt.want)
		})
	}
}

func TestStrictRequest(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	tests := []struct {
		name string
		edit func(*model.Request)
		want string
	}{
		{"tool", func(r *model.Request) { r.Tools = []model.ToolSpec{{Name: "a", InputSchema: object}} }, ""},
		{"chosen tool", func(r *model.Request) {
			r.Tools, r.ToolChoice = []model.ToolSpec{{Name: "a", InputSchema: object}}, "tool:a"
		}, ""},
		{"role", func(r *model.Request) { r.Messages[0].Role = "robot" }, "S2"},
		{"name", func(r *model.Request) { r.Tools = []model.ToolSpec{{Name: "a:b", InputSchema: object}} }, "S9"},
		{"name twice", func(r *model.Request) {
			r.Tools = []model.ToolSpec{{Name: "a", InputSchema: object}, {Name: "a", InputSchema: object}}
		}, "S9"},
		{"schema", func(r *model.Request) {
			r.Tools = []model.ToolSpec{{Name: "a", InputSchema: json.RawMessage(`{"type":"string"}`)}}
		}, "S9"},
		{"no schema", func(r *model.Request) { r.Tools = []model.ToolSpec{{Name: "a"}} }, "S9"},
		{"choice", func(r *model.Request) { r.ToolChoice = "maybe" }, "S10"},
		{"unknown tool", func(r *model.Request) { r.ToolChoice = "tool:b" }, "S10"},
		{"text", func(r *model.Request) { r.Messages[0].Text = "\xff" }, "S11"},
		{"system text", func(r *model.Request) { r.System = "\xff" }, "S11"},
		{"output kind", func(r *model.Request) {
			r.Messages = append(messagesOf(t, `[`+callTurn+`]`), modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: "c1"}}})
		}, "S4"},
		{"output is no JSON", func(r *model.Request) {
			out := modelmessage.Output{Type: modelmessage.OutputJSON, JSON: json.RawMessage("{")}
			r.Messages = append(messagesOf(t, `[`+callTurn+`]`), modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: "c1", Output: out}}})
		}, "S4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := model.Request{System: "s", Messages: messagesOf(t, `[`+userTurn+`]`)}
			tt.edit(&req)
			checkRules(t, Strict(req), tt.want)
		})
	}
}

func TestStrictBody(t *testing.T) {
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]}`
	answer := `{"role":"tool","tool_call_id":"c","content":"x"}`
	tests := []struct{ name, messages, want string }{
		{"question", userTurn, ""},
		{"parts", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]}`, ""},
		{"call and result", userTurn + `,` + call + `,` + answer, ""},
		{"unknown part", `{"role":"user","content":[{"type":"smell"}]}`, "S4"},
		{"null question", `{"role":"user","content":null}`, "S4"},
		{"no content", userTurn + `,{"role":"assistant"},` + userTurn, "S4"},
		{"empty result", userTurn + `,` + call + `,{"role":"tool","tool_call_id":"c","content":""}`, "S4"},
		{"result without id", userTurn + `,` + call + `,{"role":"tool","content":"x"}`, "S8"},
		{"empty arguments", userTurn + `,` + strings.Replace(call, `"{}"`, `""`, 1) + `,` + answer, "S5"},
		{"call type", userTurn + `,` + strings.Replace(call, `"function",`, `"f",`, 1) + `,` + answer, "S5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkRules(t, StrictBody([]byte(`{"model":"m","messages":[`+tt.messages+`]}`)), tt.want)
		})
	}
	if err := StrictBody([]byte(`{"messages":[` + userTurn + `]}`)); err == nil {
		t.Error("a body without a model passes")
	}
	if err := StrictBody([]byte(`nonsense`)); err == nil {
		t.Error("a body that is no JSON passes")
	}
}
