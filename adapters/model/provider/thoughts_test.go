package provider

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// mixed is a chat in which one answer was thought about and one was not, as after a change of the
// model or of how much it thinks.
func mixed() model.Request {
	req := history()
	req.Messages = append(
		req.Messages,
		modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.Reasoning{Text: "secret plan"}, modelmessage.Text{Text: "b"}}},
		modelmessage.Message{Role: modelmessage.RoleUser, Text: "c"},
	)
	req.Memo = new(model.Memo)
	return req
}

// thoughts are the thinking with the answers of a request; "-" is an answer without the field.
func thoughts(t *testing.T, body string) string {
	t.Helper()
	if err := modeltest.StrictBody([]byte(body)); err != nil {
		t.Error(err)
	}
	var list []string
	for _, answer := range strings.Split(body, `"role":"assistant"`)[1:] {
		_, thought, ok := strings.Cut(answer, `"reasoning_content":"`)
		if thought, _, _ = strings.Cut(thought, `"`); !ok {
			thought = "-"
		}
		list = append(list, thought)
	}
	return strings.Join(list, ",")
}

// Services that refuse thinking in a request get none, and those that want that of every answer get an
// empty one for answers without. Both are found out by their first refusal and remembered.
func TestThinkingThatServicesWantBack(t *testing.T) {
	for _, tt := range []struct {
		name    string
		refusal modeltest.Raw
		want    string
	}{
		{"groq", jsonRefusal(`'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]`), "-,-"},
		{"cerebras", modeltest.Raw{Status: 400, Type: "application/json", Body: `{"message":"messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported","type":"invalid_request_error","code":"wrong_api_format"}`}, "-,-"},
		{"mistral", modeltest.Raw{Status: 422, Type: "application/json", Body: `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted","input":"some temperature, with effort"}]},"type":"invalid_request_error"}`}, "-,-"},
		{"deepseek", jsonRefusal("The `reasoning_content` in the thinking mode must be passed back to the API."), ",secret plan"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			m, server := habitModel(t, Options{
				Endpoint: Endpoint{Settings: Settings{Efforts: map[string]Thinking{"high": {Effort: "high"}}}},
				Logger:   slog.New(slog.NewTextHandler(&log, nil)),
			}, tt.refusal, wholeAnswer())
			req := mixed()
			req.Effort = "high"
			for range 2 {
				if text, finished, err := said(t.Context(), m, req); text != "a" || !finished {
					t.Fatalf("heard %q, finished %t, %v", text, finished, err)
				}
			}
			var got []string
			for _, r := range server.Requests() {
				got = append(got, thoughts(t, r.Body))
				if !strings.Contains(r.Body, `"reasoning_effort":"high"`) {
					t.Errorf("asked without the effort: %s", r.Body)
				}
			}
			stdtest.Diff(t, "thinking", []string{"-,secret plan", tt.want, tt.want}, got)
			if n := strings.Count(log.String(), "asked once more"); n != 1 {
				t.Errorf("logged %d times: %s", n, log.String())
			}
		})
	}
}

// What a service says of thinking when there is nothing to change about it is a failure.
func TestThinkingThatCannotBeMended(t *testing.T) {
	for _, message := range []string{"The `reasoning_content` in the thinking mode must be passed back to the API.", "property 'reasoning_content' is unsupported"} {
		m, server := habitModel(t, Options{}, jsonRefusal(message))
		if _, _, err := said(t.Context(), m, hello()); model.ReasonOf(err) != model.ReasonBadRequest || len(server.Requests()) != 1 {
			t.Errorf("%d requests: %v", len(server.Requests()), err)
		}
		if _, _, err := said(t.Context(), m, mixed()); model.ReasonOf(err) != model.ReasonBadRequest || len(server.Requests()) != 3 {
			t.Errorf("%d requests: %v", len(server.Requests()), err)
		}
	}
}

// Services that accept only their own ids of calls, or no message directly after results, get requests in that form
// after their first refusal. Otherwise such a chat could not continue.
func TestCallsOfOtherServices(t *testing.T) {
	longID := "chatcmpl-tool-0123456789abcdef0123456789abcdef"
	for _, tt := range []struct {
		name    string
		refusal modeltest.Raw
		ids     bool // other ids
		bridged bool // an answer behind the results
		signed  bool // with the replacement of a signature
	}{
		{"openai", modeltest.Raw{Status: 400, Type: "application/json", Body: `{"error":{"message":"Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead.","type":"invalid_request_error","param":"messages[1].tool_calls[0].id","code":"string_above_max_length"}}`}, true, false, false},
		{"mistral", modeltest.Raw{Status: 400, Type: "application/json", Body: `{"object":"error","message":"Tool call id was chatcmpl-tool-0123456789abcdef0123456789abcdef but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`}, true, false, false},
		{"mistral, the order", modeltest.Raw{Status: 400, Type: "application/json", Body: `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"}`}, false, true, false},
		{"mistral behind openrouter", modeltest.Raw{Status: 400, Type: "application/json", Body: `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"object\":\"error\",\"message\":\"Unexpected role 'user' after role 'tool'\",\"type\":\"invalid_request_message_order\",\"code\":\"3230\"}","provider_name":"Mistral"}}}`}, false, true, false},
		{"gemini", modeltest.Raw{Status: 400, Type: "application/json", Body: `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call default_api:t, position 2.","status":"INVALID_ARGUMENT"}}]`}, false, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, server := habitModel(t, Options{}, tt.refusal, wholeAnswer())
			req := model.Request{Memo: new(model.Memo), Messages: []modelmessage.Message{
				{Role: modelmessage.RoleUser, Text: "hi"},
				{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: longID, ToolName: "t", Input: []byte("{}")}}},
				{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: longID, ToolName: "t", Output: modelmessage.Output{Type: modelmessage.OutputText, Text: "x"}}}},
				{Role: modelmessage.RoleUser, Text: "and now?"},
			}}
			for range 2 {
				if text, finished, err := said(t.Context(), m, req); text != "a" || !finished {
					t.Fatalf("heard %q, finished %t, %v", text, finished, err)
				}
			}
			asked := server.Requests()
			if len(asked) != 3 || !strings.Contains(asked[0].Body, longID) || asked[1].Body != asked[2].Body {
				t.Fatalf("asked with %+v", asked)
			}
			if err := modeltest.StrictBody([]byte(asked[2].Body)); err != nil {
				t.Error(err)
			}
			if got := !strings.Contains(asked[2].Body, longID); got != tt.ids {
				t.Errorf("other ids: %t, want %t: %s", got, tt.ids, asked[2].Body)
			}
			if got := strings.Contains(asked[2].Body, `"content":"x"},{"role":"assistant","content":"OK."},{"role":"user"`); got != tt.bridged {
				t.Errorf("an answer behind the results: %t, want %t: %s", got, tt.bridged, asked[2].Body)
			}
			if got := strings.Contains(asked[2].Body, `"thought_signature":"skip_thought_signature_validator"`); got != tt.signed {
				t.Errorf("signed: %t, want %t: %s", got, tt.signed, asked[2].Body)
			}
		})
	}
}

// Services that do not know the signatures that Gemini gives to calls get none, and keep their tools.
func TestSignaturesOfAnotherService(t *testing.T) {
	for name, refusal := range map[string]modeltest.Raw{
		"openai":  jsonRefusal("Unknown parameter: 'messages[1].tool_calls[0].extra_content'."),
		"mistral": {Status: 422, Type: "application/json", Body: `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","tool_calls",0,"extra_content"],"msg":"Extra inputs are not permitted","input":{}}]},"type":"invalid_request_error"}`},
	} {
		t.Run(name, func(t *testing.T) {
			m, server := habitModel(t, Options{}, refusal, wholeAnswer())
			req := history()
			req.Tools = []model.ToolSpec{{Name: "t", InputSchema: []byte(`{"type":"object"}`)}}
			req.Messages[1].Parts = []modelmessage.Part{modelmessage.ToolCall{ToolCallID: "old", ToolName: "t", Input: []byte("{}"), ProviderOptions: []byte(`{"google":{"thoughtSignature":"s"}}`)}}
			for range 2 {
				if text, finished, err := said(t.Context(), m, req); text != "a" || !finished {
					t.Fatalf("heard %q, finished %t, %v", text, finished, err)
				}
			}
			asked := server.Requests()
			if len(asked) != 3 || !strings.Contains(asked[0].Body, "extra_content") || strings.Contains(asked[1].Body, "extra_content") || !strings.Contains(asked[1].Body, `"tools":`) || asked[1].Body != asked[2].Body {
				t.Fatalf("asked with %+v", asked)
			}
		})
	}
}

// A service that does not know a field gets none, or the other one that it asks for, from its first refusal on, also in
// requests that share their head.
func TestFieldsThatServicesDoNotKnow(t *testing.T) {
	for _, tt := range []struct {
		name          string
		refusal       modeltest.Raw
		before, after string
	}{
		{"openai", jsonRefusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), `"max_tokens":9,"stream":true`, `"max_completion_tokens":9,"stream":true`},
		{"mistral", modeltest.Raw{Status: 422, Type: "application/json", Body: `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]},"type":"invalid_request_error","param":null,"code":null}`}, `"stream":true,"stream_options":{"include_usage":true},"messages"`, `"stream":true,"messages"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, server := habitModel(t, Options{}, tt.refusal, wholeAnswer())
			req := hello()
			req.MaxOutputTokens = 9
			for range 2 {
				if text, finished, err := said(t.Context(), m, req); text != "a" || !finished {
					t.Fatalf("heard %q, finished %t, %v", text, finished, err)
				}
			}
			asked := server.Requests()
			if len(asked) != 3 || !strings.Contains(asked[0].Body, tt.before) || !strings.Contains(asked[1].Body, tt.after) || asked[1].Body != asked[2].Body {
				t.Fatalf("asked with %+v", asked)
			}
		})
	}
}
