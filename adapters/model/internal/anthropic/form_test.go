package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	anthropicapi "github.com/anthropics/anthropic-sdk-go"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// everything is a sight that accepts all content except for the refused thinking.
type everything struct{ refused string }

func (everything) Takes(string, string) bool     { return true }
func (e everything) TakesThought(id string) bool { return id != e.refused }
func (everything) Revision() int                 { return 0 }

func newProtocol(o Options) *Protocol {
	o.Model = "claude-test"
	if o.Prompter.Sight == nil {
		o.Prompter.Sight = everything{}
	}
	o.Prompter.TakesLink = func(mediaType, link string) bool {
		return strings.HasPrefix(mediaType, "image/") && strings.HasPrefix(link, "http")
	}
	return New(o)
}

func requestOf(t *testing.T, messages string) (req model.Request) {
	t.Helper()
	stdtest.Must(t, json.Unmarshal([]byte(messages), &req.Messages))
	return req
}

// written returns the body of a request after the official SDK has read it without loss.
func written(t *testing.T, p *Protocol, req model.Request) string {
	t.Helper()
	body, err := p.Write(t.Context(), req)
	stdtest.Must(t, err)
	raw := bytes.Join(body.Pieces, nil)
	var params anthropicapi.MessageNewParams
	if err := json.Unmarshal(raw, &params); err != nil {
		t.Fatalf("the SDK cannot read %s: %v", raw, err)
	}
	again, err := json.Marshal(params)
	stdtest.Must(t, err)
	var have, want map[string]any
	if json.Unmarshal(raw, &want) != nil || json.Unmarshal(again, &have) != nil {
		t.Fatalf("no JSON: %s", raw)
	}
	delete(want, "stream") // the SDK adds it when it sends
	spelledOut(want["messages"])
	if diff := gocmp.Diff(want, have); diff != "" {
		t.Errorf("the SDK reads something else (-written +read):\n%s", diff)
	}
	return string(raw)
}

// spelledOut replaces results that are strings by the equivalent blocks, as the SDK does.
func spelledOut(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			spelledOut(item)
		}
	case map[string]any:
		if text, ok := v["content"].(string); ok {
			v["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		spelledOut(v["content"])
	}
}

func messagesOf(body string) string {
	_, list, _ := strings.Cut(body, `"messages":`)
	return strings.ReplaceAll(strings.TrimSuffix(list, "}"), cacheMark, "")
}

const (
	call   = `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}]}`
	result = `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":"x"}}]}`
	signed = `{"type":"reasoning","text":"hm","providerOptions":{"anthropic":{"signature":"s1"}}}`
	user   = `{"role":"user","content":"a"}`
	wireA  = `{"role":"user","content":[{"type":"text","text":"a"}]}`
	use    = `{"type":"tool_use","id":"c","name":"t","input":{}}`
)

func TestMessages(t *testing.T) {
	answer := func(output string) string {
		return `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":` + output + `}]}`
	}
	wireResult := func(rest string) string {
		return wireA + `,{"role":"assistant","content":[` + use + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":` + rest + `}]}`
	}
	tests := []struct{ name, messages, want string }{
		{"text", `{"role":"user","content":"a\u2028<b>\u0007"}`, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\u2028<b>\\u0007\"}]}"},
		{"texts without a word", `{"role":"user","content":" \n"},` + user + `,{"role":"assistant","content":[{"type":"text","text":"\n"}]}`, wireA},
		{"turns of one side are one message", user + `,{"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}`, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}]}`},
		{
			"results come before what was said meanwhile", user + `,` + call + `,` + result + `,` + user,
			wireA + `,{"role":"assistant","content":[` + use + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"},{"type":"text","text":"a"}]}`,
		},
		{
			"a summary first", `{"role":"assistant","content":"so far"},` + user,
			strings.TrimSuffix(lead, ",") + `,{"role":"assistant","content":[{"type":"text","text":"so far"}]},` + wireA,
		},
		{
			"thinking goes back, foreign reasoning does not", user + `,{"role":"assistant","content":[{"type":"reasoning","text":"foreign"},` + signed + `,{"type":"reasoning","text":"","providerOptions":{"anthropic":{"redactedData":"r"}}},{"type":"text","text":"b"}]},` + user,
			wireA + `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"r"},{"type":"text","text":"b"}]},` + wireA,
		},
		{
			"calls follow the other blocks of their step", user + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{"b":1, "a":[2]}},{"type":"text","text":"look"}]},` + result,
			wireA + `,{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool_use","id":"c","name":"t","input":{"b":1,"a":[2]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}`,
		},
		{
			"ids of other services, and arguments that are no object", user + `,{"role":"assistant","content":[{"type":"tool-call","toolCallId":"functions.t:0","toolName":"t","input":[1]}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"functions.t:0","toolName":"t","output":{"type":"error-text","value":""}}]}`,
			wireA + `,{"role":"assistant","content":[{"type":"tool_use","id":"x_functions_2et_3a0","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x_functions_2et_3a0","content":"(empty result)","is_error":true}]}`,
		},
		{"a result of JSON", user + `,` + call + `,` + answer(`{"type":"json","value":{"k": "<v>"}}`), wireResult(`"{\"k\":\"<v>\"}"`)},
		{"a denied call", user + `,` + call + `,` + answer(`{"type":"execution-denied"}`), wireResult(`"Tool call execution denied."`)},
		{
			"a result with content", user + `,` + call + `,` + answer(`{"type":"content","value":[{"type":"text","text":"x"},{"type":"image-data","mediaType":"image/png","data":"iVBORw0KGgo="},{"type":"file-url","url":"https://a.test/x.pdf"},{"type":"custom"}]}`),
			wireResult(`[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"document","source":{"type":"url","url":"https://a.test/x.pdf"}},{"type":"text","text":"[content of kind custom cannot be shown to this model]"}]`),
		},
		{"an image by its bytes", `{"role":"user","content":[{"type":"image","image":"iVBORw0KGgo="}]}`, `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`},
		{"a linked image", `{"role":"user","content":[{"type":"image","image":"https://a.test/x.png","mediaType":"image/png"}]}`, `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.test/x.png"}}]}`},
		{"a picture of another kind", `{"role":"user","content":[{"type":"file","mediaType":"image/tiff","filename":"x.tiff","data":"AAAA"}]}`, `{"role":"user","content":[{"type":"text","text":"[x.tiff (image/tiff) cannot be shown to this model]"}]}`},
		{"a document", `{"role":"user","content":[{"type":"file","mediaType":"application/pdf","filename":"x.pdf","data":"AAAA"}]}`, `{"role":"user","content":[{"type":"document","title":"x.pdf","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}`},
		{"a text file", `{"role":"user","content":[{"type":"file","mediaType":"text/csv","data":"77u/YSxi"}]}`, `{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b"}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := messagesOf(written(t, newProtocol(Options{}), requestOf(t, "["+tt.messages+"]")))
			if diff := gocmp.Diff("["+tt.want+"]", got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHead(t *testing.T) {
	req := requestOf(t, "["+user+"]")
	req.System, req.MaxOutputTokens = "s", 9
	req.Tools = []model.ToolSpec{{Name: "b", InputSchema: json.RawMessage(`{ "type": "object", "properties": {"z": {}, "a": {}} }`)}, {Name: "a", Description: "d"}}
	tools := `"tools":[{"name":"b","input_schema":{"type":"object","properties":{"z":{},"a":{}}}},{"name":"a","description":"d","input_schema":{"type":"object","properties":{}}` + cacheMark + `}]`
	rest := `"system":[{"type":"text","text":"s"` + cacheMark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"a"` + cacheMark + `}]}]`
	for _, tt := range []struct {
		name, choice string
		o            Options
		want         string
	}{
		{"plain", "", Options{}, `{"model":"claude-test","max_tokens":9,"stream":true,` + tools + `,"tool_choice":{"type":"auto"},` + rest + `}`},
		{"with a tool", "tool:b", Options{Options: protocol.Options{Members: []protocol.Member{{Name: "temperature", Value: []byte("0.5")}}}}, `{"model":"claude-test","max_tokens":9,"temperature":0.5,"stream":true,` + tools + `,"tool_choice":{"type":"tool","name":"b"},` + rest + `}`},
		{"required", "required", Options{}, `{"model":"claude-test","max_tokens":9,"stream":true,` + tools + `,"tool_choice":{"type":"any"},` + rest + `}`},
		{"none", "none", Options{}, `{"model":"claude-test","max_tokens":9,"stream":true,` + tools + `,"tool_choice":{"type":"none"},` + rest + `}`},
		{"with a budget", "", Options{Options: protocol.Options{Efforts: protocol.Efforts{Thinking: protocol.Thinking{Type: "enabled", Budget: 2048}}}}, `{"model":"claude-test","max_tokens":2057,"stream":true,` + tools + `,"tool_choice":{"type":"auto"},` + rest + `,"thinking":{"type":"enabled","budget_tokens":2048}}`},
		{"with a budget beyond what the model accepts", "", Options{OutputLimit: 2000, Options: protocol.Options{Efforts: protocol.Efforts{Thinking: protocol.Thinking{Type: "enabled", Budget: 1995}}}}, `{"model":"claude-test","max_tokens":2000,"stream":true,` + tools + `,"tool_choice":{"type":"auto"},` + rest + `,"thinking":{"type":"enabled","budget_tokens":1995}}`},
		{"with an effort", "", Options{Options: protocol.Options{Efforts: protocol.Efforts{Thinking: protocol.Thinking{Type: "adaptive", Effort: "high"}}}}, `{"model":"claude-test","max_tokens":9,"stream":true,` + tools + `,"tool_choice":{"type":"auto"},` + rest + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req.ToolChoice = tt.choice
			if diff := gocmp.Diff(tt.want, written(t, newProtocol(tt.o), req)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// A turn that began without thinking, or with one that the service refused, ends without.
func TestThinkingWithABudget(t *testing.T) {
	thoughtful := `{"role":"assistant","content":[` + signed + `,{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}]}`
	refused := everything{thought{signature: "s1"}.id()}
	for _, tt := range []struct {
		name, messages string
		sight          protocol.Sight
		want           bool
	}{
		{"a new turn", user + `,` + call + `,` + result + `,` + user, nil, true},
		{"a turn that thought", user + `,` + thoughtful + `,` + result, nil, true},
		{"a turn that did not", user + `,` + call + `,` + result, nil, false},
		{"a turn whose thinking was refused", user + `,` + thoughtful + `,` + result, refused, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Options: protocol.Options{Efforts: protocol.Efforts{Thinking: protocol.Thinking{Type: "enabled", Budget: 1024}}}}
			o.Prompter.Sight = tt.sight
			body := written(t, newProtocol(o), requestOf(t, "["+tt.messages+"]"))
			if got := strings.Contains(body, `"thinking":{"type":"enabled"`); got != tt.want {
				t.Errorf("thinking is %t, want %t: %s", got, tt.want, body)
			}
			if tt.sight != nil && strings.Contains(body, "s1") {
				t.Errorf("refused thinking is sent: %s", body)
			}
		})
	}
}

// Otherwise a result could not be matched to its call.
func TestWireIDsAreDifferent(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"", "a.b", "a_2eb", "x_a_2eb", "x_x_5fa_5f2eb", "a-b", "é", "x_", "x"} {
		got := wireID(id)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q both become %q", other, id, got)
		}
		seen[got] = id
	}
}
