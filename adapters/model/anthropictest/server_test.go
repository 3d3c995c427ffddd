package anthropictest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const question = `{"model":"claude-x","max_tokens":4096,"stream":true,"messages":[{"role":"user","content":"hi"}]}`

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	text   string
	err    error // of reading it

	events  []string // their names
	content []map[string]any
	delta   map[string]any // of message_delta
	usage   [2]map[string]any
}

func newServer(t *testing.T, key string, steps ...modeltest.Step) *Server {
	t.Helper()
	s := NewServer(modeltest.NewScript(steps...), key)
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, url, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	stdtest.Must(t, err)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "key")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, header: resp.Header, text: string(b), err: err}
}

// ask sends a body and puts the answer together as a client does.
func ask(t *testing.T, s *Server, body string) reply {
	t.Helper()
	r := post(t, s.URL+"/messages", body)
	if r.err != nil || r.status != http.StatusOK {
		t.Fatalf("status %d, %v, %s", r.status, r.err, r.text)
	}
	for block := range strings.SplitSeq(strings.TrimSuffix(r.text, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(block, "\ndata: ")
		var e event
		if err := json.Unmarshal([]byte(data), &e); !ok || err != nil || "event: "+e.Type != name {
			t.Fatalf("bad event %q", block)
		}
		r.take(t, e)
	}
	return r
}

type event struct {
	Type    string `json:"type"`
	Message struct {
		Usage map[string]any `json:"usage"`
	} `json:"message"`
	Index int            `json:"index"`
	Block map[string]any `json:"content_block"`
	Delta map[string]any `json:"delta"`
	Usage map[string]any `json:"usage"`
	Error map[string]any `json:"error"`
}

func (r *reply) take(t *testing.T, e event) {
	t.Helper()
	r.events = append(r.events, e.Type)
	switch e.Type {
	case "message_start":
		r.usage[0] = e.Message.Usage
	case "content_block_start":
		if e.Index != len(r.content) {
			t.Errorf("block %d comes after %d", e.Index, len(r.content))
		}
		r.content = append(r.content, e.Block)
	case "content_block_delta":
		if e.Index != len(r.content)-1 {
			t.Fatalf("a delta of block %d in block %d", e.Index, len(r.content)-1)
		}
		block := r.content[e.Index]
		switch kind := text(e.Delta, "type"); kind {
		case "input_json_delta":
			block["json"] = text(block, "json") + text(e.Delta, "partial_json")
		default:
			member := strings.TrimSuffix(kind, "_delta")
			block[member] = text(block, member) + text(e.Delta, member)
		}
	case "message_delta":
		r.delta, r.usage[1] = e.Delta, e.Usage
	case "error":
		r.delta = e.Error
	}
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// assistant is the answer as a message of the next request.
func (r reply) assistant(t *testing.T) string {
	t.Helper()
	for _, block := range r.content {
		if text, ok := block["json"].(string); ok {
			block["input"] = json.RawMessage(text)
			delete(block, "json")
		}
	}
	b, err := json.Marshal(map[string]any{"role": "assistant", "content": r.content})
	stdtest.Must(t, err)
	return string(b)
}

func TestStream(t *testing.T) {
	long := `{"query":"` + strings.Repeat("ü", 40) + `"}`
	step := modeltest.Do(func(model.Request) []model.Event {
		events := append(modeltest.ReasoningEvents("h", "m"), modeltest.TextEvents("a<b", "c")...)
		events = append(events, modeltest.CallEvents(modeltest.Call{ID: "c1", Name: "look", Input: long}, modeltest.Call{ID: "c2", Name: "look"})...)
		events = append(events, model.Event{Kind: model.EventToolCall, ID: "c3", ToolName: "look", Input: "{}"})
		finish := modeltest.Finish("tool-calls")
		finish.Usage = model.Usage{OutputTokens: new(int64(7))}
		return append(events, finish)
	})
	s := newServer(t, "key", step)
	r := ask(t, s, question)
	signature := text(r.content[0], "signature")
	want := []map[string]any{
		{"type": "thinking", "thinking": "hm", "signature": signature},
		{"type": "text", "text": "a<bc"},
		{"type": "tool_use", "id": "c1", "name": "look", "input": map[string]any{}, "json": long},
		{"type": "tool_use", "id": "c2", "name": "look", "input": map[string]any{}, "json": ""},
		{"type": "tool_use", "id": "c3", "name": "look", "input": map[string]any{}, "json": "{}"},
	}
	if diff := cmp.Diff(want, r.content); diff != "" || signature == "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	stdtest.Diff(t, "first events", []string{"message_start", "content_block_start", "ping"}, r.events[:3])
	stdtest.Diff(t, "last events", []string{"content_block_stop", "message_delta", "message_stop"}, r.events[len(r.events)-3:])
	if r.delta["stop_reason"] != "tool_use" || r.usage[1]["output_tokens"] != 7.0 || r.usage[0]["input_tokens"] != 6.0 || r.usage[1]["input_tokens"] != 6.0 {
		t.Errorf("delta %v, usage %v", r.delta, r.usage)
	}
	if got := r.header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") || r.header.Get("Request-Id") == "" {
		t.Errorf("header %v", r.header)
	}
	stdtest.Diff(t, "calls", []modeltest.Accounting{{InputTokens: 6, Output: 7}}, s.Calls())
	if len(s.Bodies()) != 1 || string(s.Bodies()[0]) != question || s.Faults() != nil {
		t.Errorf("bodies %q, faults %v", s.Bodies(), s.Faults())
	}
}

func TestStopReasons(t *testing.T) {
	tests := []struct{ unified, raw, want string }{
		{"stop", "stop", "end_turn"},
		{"length", "", "max_tokens"},
		{"tool-calls", "tool-calls", "tool_use"},
		{"content-filter", "", "refusal"},
		{"other", "pause_turn", "pause_turn"},
		{"length", "model_context_window_exceeded", "model_context_window_exceeded"},
		{"stop", "stop_sequence", "stop_sequence"},
	}
	for _, tt := range tests {
		t.Run(tt.unified+" "+tt.raw, func(t *testing.T) {
			r := ask(t, newServer(t, "", modeltest.Do(func(model.Request) []model.Event {
				return []model.Event{{Kind: model.EventFinish, Finish: model.FinishReason{Unified: tt.unified, Raw: tt.raw}}}
			})), question)
			if _, refused := r.delta["stop_details"]; r.delta["stop_reason"] != tt.want || refused != (tt.want == "refusal") {
				t.Errorf("got %v, want %s", r.delta, tt.want)
			}
			stdtest.Diff(t, "events", []string{"message_start", "message_delta", "message_stop"}, r.events)
		})
	}
}

// TestServerGivesTheRequest checks what the server's model gets of a body with everything.
func TestServerGivesTheRequest(t *testing.T) {
	b, err := decode([]byte(edit(t, goodBody, "tool_choice", `{"type":"tool","name":"look"}`)))
	stdtest.Must(t, err)
	want := `{"System":"s","Messages":[
		{"role":"user","content":[{"type":"text","text":"hi"},{"type":"file","mediaType":"image/png","data":"` + png + `"},
			{"type":"file","mediaType":"application/pdf","data":"` + pdf + `"},{"type":"file","mediaType":"text/plain","data":"plain"}]},
		{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"looking"},
			{"type":"tool-call","toolCallId":"toolu_1","toolName":"look","input":{"cache_control":1}},
			{"type":"tool-call","toolCallId":"toolu_2","toolName":"other","input":{}}]},
		{"role":"tool","content":[{"type":"tool-result","toolCallId":"toolu_2","toolName":"other","output":{"type":"error-text","value":""}},
			{"type":"tool-result","toolCallId":"toolu_1","toolName":"look","output":{"type":"text","value":"found"}}]},
		{"role":"user","content":[{"type":"text","text":"and now?"}]},
		{"role":"user","content":[{"type":"text","text":"more"}]}],
		"Tools":[{"Name":"look","Description":"d","InputSchema":{"type":"object"}},{"Name":"other","Description":"","InputSchema":{"type":"object","properties":{}}}],
		"ToolChoice":"tool:look","MaxOutputTokens":4096,"ID":"","Model":"","Effort":"","Memo":null}`
	got, err := json.Marshal(b.request())
	stdtest.Must(t, err)
	stdtest.Diff(t, "request", values(t, want), values(t, string(got)))
}

func values(t *testing.T, text string) (v any) {
	t.Helper()
	stdtest.Must(t, json.Unmarshal([]byte(text), &v))
	return v
}

func TestToolChoices(t *testing.T) {
	tests := []struct{ choice, want string }{
		{`{"type":"auto"}`, "auto"},
		{`{"type":"none"}`, "none"},
		{`{"type":"any"}`, "required"},
		{``, ""},
	}
	for _, tt := range tests {
		b, err := decode([]byte(edit(t, goodBody, "tool_choice", tt.choice)))
		if got := b.request().ToolChoice; err != nil || got != tt.want {
			t.Errorf("%s is %q, %v, want %q", tt.choice, got, err, tt.want)
		}
	}
}

func TestServerFails(t *testing.T) {
	fail := func(e model.Error) modeltest.Step { return modeltest.Fail(&e) }
	tests := []struct {
		name   string
		step   modeltest.Step
		body   string
		header []string
		status int
		kind   string
		text   string
	}{
		{"no key", modeltest.Say("x"), question, []string{"X-Api-Key", ""}, 401, "authentication_error", "API key"},
		{"no version", modeltest.Say("x"), question, []string{"Anthropic-Version", ""}, 400, "invalid_request_error", "anthropic-version: header is required"},
		{"bad body", modeltest.Say("x"), `{`, nil, 400, "invalid_request_error", "Messages"},
		{"broken rule", modeltest.Say("x"), strings.Replace(question, `"hi"`, `""`, 1), nil, 400, "invalid_request_error", "M5"},
		{"no stream", modeltest.Say("x"), strings.Replace(question, `"stream":true,`, ``, 1), nil, 400, "invalid_request_error", "streams"},
		{"large body", modeltest.Say("x"), `"` + strings.Repeat("x", modeltest.MaxBody) + `"`, nil, 413, "request_too_large", "maximum size"},
		{"rate", fail(model.Error{Reason: model.ReasonRate, RetryAfter: 1500 * time.Millisecond, Message: "slow"}), question, nil, 429, "rate_limit_error", "slow"},
		{"overloaded", modeltest.FailWith(model.ReasonOverloaded, true), question, nil, 529, "overloaded_error", "scripted"},
		{"key", modeltest.FailWith(model.ReasonAuth, false), question, nil, 401, "authentication_error", "scripted"},
		{"quota", modeltest.FailWith(model.ReasonQuota, false), question, nil, 402, "billing_error", "scripted"},
		{"unknown model", modeltest.FailWith(model.ReasonNotFound, false), question, nil, 404, "not_found_error", "scripted"},
		{"too long", modeltest.FailWith(model.ReasonTooLong, false), question, nil, 400, "invalid_request_error", "prompt is too long"},
		{"filtered", modeltest.FailWith(model.ReasonFiltered, false), question, nil, 400, "invalid_request_error", "scripted"},
		{"foreign error", modeltest.Fail(errors.New("boom")), question, nil, 500, "api_error", "boom"},
		{"status", fail(model.Error{Reason: model.ReasonAuth, Status: 403, Message: "no"}), question, nil, 403, "permission_error", "no"},
		{"other status", fail(model.Error{Reason: model.ReasonOverloaded, Status: 502, Message: "no"}), question, nil, 502, "api_error", "no"},
		{"other refusal", fail(model.Error{Reason: model.ReasonBadRequest, Status: 422, Message: "no"}), question, nil, 422, "invalid_request_error", "no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post(t, newServer(t, "key", tt.step).URL+"/messages", tt.body, tt.header...)
			var got struct {
				Type  string `json:"type"`
				Error struct {
					Type    string `json:"type"`
					Message string `json:"message"`
				} `json:"error"`
				RequestID string `json:"request_id"`
			}
			if err := json.Unmarshal([]byte(r.text), &got); err != nil {
				t.Fatalf("%v in %s", err, r.text)
			}
			if r.status != tt.status || got.Type != "error" || got.Error.Type != tt.kind || !strings.Contains(got.Error.Message, tt.text) {
				t.Errorf("%d %s, want %d, %s with %q", r.status, r.text, tt.status, tt.kind, tt.text)
			}
			if got.RequestID == "" || got.RequestID != r.header.Get("Request-Id") {
				t.Errorf("request %q in the body, %q in the header", got.RequestID, r.header.Get("Request-Id"))
			}
			after, limit := r.header.Get("Retry-After"), r.header.Get("Anthropic-Ratelimit-Requests-Reset")
			if _, err := time.Parse(time.RFC3339, limit); (after == "2") != (tt.status == 429) || (err == nil) != (tt.status == 429) {
				t.Errorf("Retry-After %q, reset %q", after, limit)
			}
		})
	}
	if r := post(t, newServer(t, "").URL+"/chat/completions", question); r.status != 404 || !strings.Contains(r.text, "not_found_error") {
		t.Errorf("an unknown address: %d %s", r.status, r.text)
	}
}

func TestServerCuts(t *testing.T) {
	late := modeltest.Do(func(model.Request) []model.Event {
		return []model.Event{
			{Kind: model.EventToolInputStart, ID: "a", ToolName: "look"},
			{Kind: model.EventToolInputStart, ID: "b", ToolName: "look"},
			{Kind: model.EventToolInputDelta, ID: "a", Delta: "{}"},
			modeltest.Finish("tool-calls"),
		}
	})
	tests := []struct {
		name   string
		step   modeltest.Step
		faults int
	}{
		{"cut", modeltest.CutAfter("half"), 0},
		{"no finish", modeltest.Do(func(model.Request) []model.Event { return modeltest.TextEvents("half") }), 0},
		{"input of a closed block", late, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, "", tt.step)
			r := post(t, s.URL+"/messages", question)
			if r.err == nil || !strings.Contains(r.text, "content_block_start") || strings.Contains(r.text, "message_stop") {
				t.Errorf("got %v after %s, want a broken connection", r.err, r.text)
			}
			if got := s.Faults(); len(got) != tt.faults {
				t.Errorf("faults %v, want %d", got, tt.faults)
			}
		})
	}
}
