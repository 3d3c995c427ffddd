package responsestest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	text   string // of an answer that is no stream
	events []map[string]any
	err    error // of reading it
}

// kinds are the types of the events without the part that all have.
func (r reply) kinds() []string {
	var kinds []string
	for _, e := range r.events {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprint(e["type"]), "response."))
	}
	return kinds
}

// response is the response in the last event.
func (r reply) response(t *testing.T) (out struct {
	Status            string
	Error             map[string]any
	IncompleteDetails map[string]any `json:"incomplete_details"`
	Output            []map[string]any
	Usage             map[string]any
},
) {
	t.Helper()
	if len(r.events) == 0 {
		t.Fatalf("no events in %d %s", r.status, r.text)
	}
	b, err := json.Marshal(r.events[len(r.events)-1]["response"])
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	stdtest.Must(t, err)
	return out
}

func post(t *testing.T, s *Server, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/responses", strings.NewReader(body))
	stdtest.Must(t, err)
	req.Header.Set("Authorization", "Bearer key")
	resp, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	r := reply{status: resp.StatusCode, header: resp.Header}
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		b, err := io.ReadAll(resp.Body)
		r.text, r.err = string(b), err
		return r
	}
	r.events, r.err = readEvents(t, resp.Body)
	return r
}

// readEvents checks the names and numbers of the events.
func readEvents(t *testing.T, body io.Reader) (events []map[string]any, err error) {
	t.Helper()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var name string
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = rest
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if e["type"] != name || e["sequence_number"] != float64(len(events)) {
			t.Errorf("event %d of name %q is %v", len(events), name, e)
		}
		events = append(events, e)
	}
	return events, lines.Err()
}

func newServer(t *testing.T, key string, steps ...modeltest.Step) *Server {
	t.Helper()
	s := NewServer(modeltest.NewScript(steps...), key)
	t.Cleanup(s.Close)
	return s
}

// ask is a body with these items, for a model that reasons.
func ask(items ...string) string {
	return `{"model":"gpt-5.1","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},` +
		`"tools":[{"type":"function","name":"t","strict":false,"parameters":{"type":"object"}}],"input":[` + strings.Join(items, ",") + `]}`
}

const hi = `{"role":"user","content":"hi"}`

func finish(unified, raw string) model.Event {
	return model.Event{Kind: model.EventFinish, Finish: model.FinishReason{Unified: unified, Raw: raw}}
}

func do(events ...model.Event) modeltest.Step {
	return modeltest.Do(func(model.Request) []model.Event { return events })
}

func refusal(pieces ...string) []model.Event {
	events := modeltest.TextEvents(pieces...)
	for i := range events {
		events[i].ID = "refusal"
	}
	return events
}

func TestServerStreams(t *testing.T) {
	whole := modeltest.Step{Reasoning: []string{"h", "m"}, Text: []string{"a<b", "c"}, Calls: []modeltest.Call{{ID: "c1", Name: "t", Input: `{"x":1}`}, {ID: "c2", Name: "t", Input: "{}"}}}
	twoThoughts := append(modeltest.ReasoningEvents("one"), modeltest.ReasoningEvents("two")...)
	text := []string{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta"}
	textDone := []string{"output_text.done", "content_part.done", "output_item.done"}
	refused := []string{"output_item.added", "content_part.added", "refusal.delta", "refusal.done", "content_part.done", "output_item.done", "completed"}
	call := []string{"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"}
	join := func(lists ...[]string) (out []string) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	tests := []struct {
		name   string
		step   modeltest.Step
		want   []string
		detail string // in the last event
	}{
		{"all kinds", whole, join([]string{
			"created", "in_progress", "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
			"reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done",
			"output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
		}, textDone, call, call, []string{"completed"}), `"status":"completed"`},
		{"two parts of a summary", do(append(twoThoughts, finish("stop", ""))...), []string{
			"created", "in_progress", "output_item.added",
			"reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done",
			"reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done",
			"output_item.done", "completed",
		}, `"summary":[{"text":"one","type":"summary_text"},{"text":"two","type":"summary_text"}]`},
		{"call without pieces", do(model.Event{Kind: model.EventToolCall, ID: "c", ToolName: "t", Input: "{}"}, finish("tool-calls", "")), join(text[:2], call, []string{"completed"}), `"arguments":"{}"`},
		{"length", modeltest.Step{Text: []string{"a"}, FinishReason: "length"}, join(text, textDone, []string{"incomplete"}), `"incomplete_details":{"reason":"max_output_tokens"}`},
		{"item of a cut answer", modeltest.Step{Text: []string{"a"}, FinishReason: "length"}, join(text, textDone, []string{"incomplete"}), `"role":"assistant","status":"incomplete"`},
		{"filter", modeltest.Step{Text: []string{"a"}, FinishReason: "content-filter"}, join(text, textDone, []string{"incomplete"}), `"incomplete_details":{"reason":"content_filter"}`},
		{"other", modeltest.Step{Text: []string{"a"}, FinishReason: "other"}, join(text, textDone, []string{"incomplete"}), `"incomplete_details":{"reason":"other"}`},
		{"error", modeltest.Step{FinishReason: "error"}, []string{"created", "in_progress", "failed"}, `"error":{"code":"server_error","message":"error"}`},
		{"refusal", do(append(refusal("no"), finish("content-filter", model.FinishRefusal))...), join(text[:2], refused), `[{"refusal":"no","type":"refusal"}]`},
		{"refusal after a text", do(append(modeltest.TextEvents("a"), finish("content-filter", model.FinishRefusal))...), join(text, textDone, refused), `"type":"refusal"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, "key", tt.step)
			got := post(t, s, ask(hi))
			if got.err != nil || got.status != http.StatusOK || got.header.Get("X-Ratelimit-Remaining-Requests") != "999" {
				t.Fatalf("%+v", got)
			}
			stdtest.Diff(t, "events", tt.want, got.kinds())
			last, err := json.Marshal(got.events[len(got.events)-1])
			if err != nil || !strings.Contains(string(last), tt.detail) {
				t.Errorf("no %s in %s", tt.detail, last)
			}
			if len(s.Bodies()) != 1 || s.Faults() != nil {
				t.Errorf("%d bodies, faults %v", len(s.Bodies()), s.Faults())
			}
		})
	}
}

// TestServerPlacesEvents checks what the events of an item say of their place, and that its text is
// the sum of its pieces.
func TestServerPlacesEvents(t *testing.T) {
	step := modeltest.Step{Reasoning: []string{"h", "m"}, Text: []string{"a", "b"}, Calls: []modeltest.Call{{ID: "c1", Name: "t", Input: "{}"}}}
	got := post(t, newServer(t, "", step), ask(hi))
	var ids []any
	texts := map[any]string{}
	for _, e := range got.events {
		item, isItem := e["item"].(map[string]any)
		switch {
		case e["type"] == "response.output_item.added":
			ids = append(ids, item["id"])
		case isItem && item["id"] != ids[len(ids)-1]:
			t.Errorf("%v ends another item than %v", e, ids)
		case e["item_id"] != nil && (e["item_id"] != ids[len(ids)-1] || e["output_index"] != float64(len(ids)-1)):
			t.Errorf("%v is not about %v", e, ids)
		}
		if delta, ok := e["delta"].(string); ok {
			texts[e["item_id"]] += delta
		}
	}
	output := got.response(t).Output
	if len(ids) != 3 || len(output) != 3 || texts[ids[0]] != "hm" || texts[ids[1]] != "ab" || texts[ids[2]] != "{}" {
		t.Errorf("items %v with %v and the output %v", ids, texts, output)
	}
	if call := output[2]; call["call_id"] != "c1" || call["name"] != "t" || call["arguments"] != "{}" {
		t.Errorf("the call is %v", call)
	}
}

func TestServerFails(t *testing.T) {
	rate := &model.Error{Reason: model.ReasonRate, RetryAfter: 1500 * time.Millisecond, Message: "slow"}
	tests := []struct {
		name   string
		key    string
		step   modeltest.Step
		body   string
		status int
		want   string
	}{
		{"bad key", "other", modeltest.Say("x"), ask(hi), 401, `"code":"invalid_api_key"`},
		{"no request", "", modeltest.Say("x"), `{`, 400, `"type":"invalid_request_error"`},
		{"unknown member", "", modeltest.Say("x"), strings.Replace(ask(hi), `{`, `{"n":1,`, 1), 400, `"code":"unknown_parameter"`},
		{"broken rule", "", modeltest.Say("x"), ask(`{"role":"tool","content":"x"}`), 400, `"param":"input[0]"`},
		{"no stream", "", modeltest.Say("x"), strings.Replace(ask(hi), `"stream":true,`, ``, 1), 400, `"param":"stream"`},
		{"rate", "", modeltest.Fail(rate), ask(hi), 429, `{"error":{"code":"rate_limit_exceeded","message":"slow","param":null,"type":"requests"}}`},
		{"status", "", modeltest.Fail(&model.Error{Reason: model.ReasonOverloaded, Status: 500}), ask(hi), 500, `"code":"server_error"`},
		{"too long", "", modeltest.FailWith(model.ReasonTooLong, false), ask(hi), 400, `"code":"context_length_exceeded"`},
		{"quota", "", modeltest.FailWith(model.ReasonQuota, false), ask(hi), 429, `"code":"insufficient_quota"`},
		{"unknown model", "", modeltest.FailWith(model.ReasonNotFound, false), ask(hi), 404, `"code":"model_not_found"`},
		{"filtered", "", modeltest.FailWith(model.ReasonFiltered, false), ask(hi), 400, `"code":"invalid_prompt"`},
		{"foreign error", "", modeltest.Fail(errors.New("boom")), ask(hi), 503, "boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, tt.key, tt.step)
			got := post(t, s, tt.body)
			if got.err != nil || got.status != tt.status || !strings.Contains(got.text, tt.want) {
				t.Errorf("%+v, want %d with %s", got, tt.status, tt.want)
			}
			if s.Calls() != nil {
				t.Errorf("refused calls are billed for: %v", s.Calls())
			}
			h := got.header
			if tt.name == "rate" && (h.Get("Retry-After") != "2" || h.Get("X-Ratelimit-Remaining-Requests") != "0" || h.Get("X-Ratelimit-Reset-Requests") != "1.5s") {
				t.Errorf("the headers are %v", h)
			}
		})
	}
}

// TestServerGivesTheRequest checks what the server's model gets.
func TestServerGivesTheRequest(t *testing.T) {
	script := modeltest.NewScript(modeltest.Say("ok"))
	s := NewServer(script, "")
	defer s.Close()
	body := strings.Replace(good, `"encrypted_content":"x"`, fmt.Sprintf(`"encrypted_content":%q`, s.encrypt("rs_1", []string{"hm"})), 1)
	if got := post(t, s, body); got.err != nil || got.status != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	req := script.Requests()[0]
	if req.System != "s" || req.MaxOutputTokens != 16 || req.ToolChoice != "tool:t" || len(req.Tools) != 2 || req.Tools[0].Description != "d" {
		t.Errorf("the model saw %+v", req)
	}
	name := "a.pdf"
	image := func(url string) modelmessage.Part { return modelmessage.Image{Image: url} }
	result := func(id, tool, text string) modelmessage.Message {
		output := modelmessage.Output{Type: modelmessage.OutputText, Text: text}
		return modelmessage.Message{Role: "tool", Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: id, ToolName: tool, Output: output}}}
	}
	want := []modelmessage.Message{
		{Role: "system", Text: "d"},
		{Role: "user", Parts: []modelmessage.Part{
			modelmessage.Text{Text: "hi"},
			image("data:image/png;base64,AAAA"), image("https://example.com/a.png"),
			modelmessage.File{Filename: uimessage.Some(name), Data: "data:application/pdf;base64,AAAA"},
			modelmessage.File{Filename: uimessage.Some(""), Data: "file-1"},
		}},
		{Role: "assistant", Parts: []modelmessage.Part{
			modelmessage.Reasoning{Text: "hm"},
			modelmessage.Text{Text: "wait"},
			modelmessage.ToolCall{ToolCallID: "c1", ToolName: "t", Input: json.RawMessage("{}")},
			modelmessage.ToolCall{ToolCallID: "c2", ToolName: "u", Input: json.RawMessage(`{"x":1}`)},
		}},
		result("c2", "u", ""), result("c1", "t", "r"),
		{Role: "assistant", Parts: []modelmessage.Part{modelmessage.Text{Text: "no"}}},
		{Role: "user", Parts: []modelmessage.Part{modelmessage.Text{Text: "again"}}},
	}
	stdtest.Diff(t, "messages", want, req.Messages)
}

func TestServerTakesDeveloperAsSystem(t *testing.T) {
	script := modeltest.NewScript(modeltest.Say("ok"))
	s := NewServer(script, "")
	defer s.Close()
	post(t, s, ask(`{"role":"developer","content":[{"type":"input_text","text":"s"}]}`, hi))
	if req := script.Requests()[0]; req.System != "s" || len(req.Messages) != 1 {
		t.Errorf("the model saw %+v", req)
	}
}

// TestServerReportsScripts checks that events are not lost silently.
func TestServerReportsScripts(t *testing.T) {
	start := func(id string) model.Event {
		return model.Event{Kind: model.EventToolInputStart, ID: id, ToolName: "t"}
	}
	call := model.Event{Kind: model.EventToolCall, ID: "a", ToolName: "t", Input: "{}"}
	s := newServer(t, "", do(start("a"), start("b"), call, finish("tool-calls", "")))
	if post(t, s, ask(hi)); len(s.Faults()) != 1 {
		t.Errorf("faults %v, want one about the call that was not the last item", s.Faults())
	}
}
