package anthropictest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	thinkingBody = `{"model":"claude-x","max_tokens":4096,"stream":true,"thinking":{"type":"enabled","budget_tokens":1024},
		"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}]}`
	resultOfC1 = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}`
)

// thinkAndCall answers with a block of thinking, a redacted one, and a call.
func thinkAndCall(id, text string) modeltest.Step {
	return modeltest.Do(func(model.Request) []model.Event {
		redacted := json.RawMessage(`{"anthropic":{"redactedData":"secret"}}`)
		events := append(modeltest.ReasoningEvents(text),
			model.Event{Kind: model.EventReasoningStart, ID: "r", ProviderMetadata: redacted}, model.Event{Kind: model.EventReasoningEnd, ID: "r"})
		events = append(events, modeltest.CallEvents(modeltest.Call{ID: id, Name: "look", Input: "{}"})...)
		return append(events, modeltest.Finish("tool-calls"))
	})
}

func chat(t *testing.T, body string, messages ...string) string {
	t.Helper()
	var list []any
	b, err := decode([]byte(body))
	stdtest.Must(t, err)
	for _, m := range b.Messages {
		list = append(list, m.fields)
	}
	for _, m := range messages {
		list = append(list, json.RawMessage(m))
	}
	all, err := json.Marshal(list)
	stdtest.Must(t, err)
	return edit(t, body, "messages", string(all))
}

func TestThinkingIsSigned(t *testing.T) {
	s := newServer(t, "", thinkAndCall("c1", "hm"), modeltest.Say("ok"))
	r := ask(t, s, thinkingBody)
	if len(r.content) != 3 || r.content[0]["thinking"] != "hm" || r.usage[1]["output_tokens_details"] == nil {
		t.Fatalf("content %v, usage %v", r.content, r.usage)
	}
	stdtest.Diff(t, "redacted thinking", map[string]any{"type": "redacted_thinking", "data": "secret"}, r.content[1])
	sent := r.assistant(t)
	behind, err := json.Marshal(append([]map[string]any{{"type": "text", "text": "I"}}, r.content...))
	stdtest.Must(t, err)
	other := ask(t, newServer(t, "", thinkAndCall("c1", "ha")), thinkingBody).assistant(t)
	tests := []struct{ name, message, want string }{
		{"unmodified", sent, ""},
		{"text changed", edit(t, sent, "content.0.thinking", `"ha"`), "Invalid `signature` in `thinking` block"},
		{"text removed", edit(t, sent, "content.0.thinking", `""`), "Invalid `signature` in `thinking` block"},
		{"signature changed", edit(t, sent, "content.0.signature", `"hmm"`), "Invalid `signature` in `thinking` block"},
		{"signature of a new text", strings.Replace(sent, "hm", "ha", 1), "Invalid `signature` in `thinking` block"},
		{"redacted data changed", edit(t, sent, "content.1.data", `"public"`), "Invalid `data` in `redacted_thinking` block"},
		{"dropped", edit(t, edit(t, sent, "content.0", ""), "content.0", ""), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"text before it", edit(t, sent, "content", string(behind)), "Expected `thinking` or `redacted_thinking`, but found `text`"},
		{"redacted block dropped", edit(t, sent, "content.1", ""), "cannot be modified"},
		{"thinking of another answer", other, "cannot be modified"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := chat(t, thinkingBody, tt.message, resultOfC1)
			r := post(t, s.URL+"/messages", body)
			if tt.want == "" && r.status != http.StatusOK || tt.want != "" && (r.status != http.StatusBadRequest || !strings.Contains(r.text, tt.want)) {
				t.Errorf("%d %s, want %q", r.status, r.text, tt.want)
			}
		})
	}
}

// TestThinkingIsNeeded: it may be left out where no call is open, and only there.
func TestThinkingIsNeeded(t *testing.T) {
	second := thinkAndCall("c2", "so")
	s := newServer(t, "", thinkAndCall("c1", "hm"), second)
	first := ask(t, s, thinkingBody).assistant(t)
	next := ask(t, s, chat(t, thinkingBody, first, resultOfC1)).assistant(t)
	bare := func(message string) string { return edit(t, edit(t, message, "content.0", ""), "content.0", "") }
	resultOfC2 := strings.Replace(resultOfC1, "c1", "c2", 1)
	withText := edit(t, resultOfC1, "content.1", `{"type":"text","text":"and?"}`)
	const text, answer = `{"role":"user","content":"and?"}`, `{"role":"assistant","content":"so"}`
	off := edit(t, thinkingBody, "thinking", "")
	tests := []struct {
		name, body string
		want       string
	}{
		{"all of the loop", chat(t, thinkingBody, first, resultOfC1, next, resultOfC2), ""},
		{"the first of the loop is bare", chat(t, thinkingBody, bare(first), resultOfC1, next, resultOfC2), "M16"},
		{"the last of the loop is bare", chat(t, thinkingBody, first, resultOfC1, bare(next), resultOfC2), "M16"},
		{"thinking is off", chat(t, off, bare(first), resultOfC1, bare(next), resultOfC2), ""},
		{"the loop is over", chat(t, thinkingBody, bare(first), resultOfC1, answer, text), ""},
		{"text after the result", chat(t, thinkingBody, bare(first), withText), "M16"},
		{"text in the next message", chat(t, thinkingBody, bare(first), resultOfC1, text), "M16"},
		{"text began another turn", chat(t, thinkingBody, bare(first), withText, next, resultOfC2), ""},
		{"answers of somebody else", chat(t, thinkingBody, strings.ReplaceAll(bare(first), "c1", "d1"), strings.ReplaceAll(resultOfC1, "c1", "d1")), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := decode([]byte(tt.body))
			stdtest.Must(t, err)
			_, err = s.Accept(http.Header{"Anthropic-Version": {"2023-06-01"}}, []byte(tt.body))
			checkRules(t, err, tt.want)
			if len(b.Messages) < 3 {
				t.Errorf("%d messages", len(b.Messages))
			}
		})
	}
}

// TestCallsOfOneID: chats with the same ids do not disturb each other.
func TestCallsOfOneID(t *testing.T) {
	s := newServer(t, "", thinkAndCall("c1", "hm"), thinkAndCall("c1", "so"), modeltest.Say("a"), modeltest.Say("b"))
	first, second := ask(t, s, thinkingBody).assistant(t), ask(t, s, thinkingBody).assistant(t)
	ask(t, s, chat(t, thinkingBody, first, resultOfC1))
	ask(t, s, chat(t, thinkingBody, second, resultOfC1))
}
