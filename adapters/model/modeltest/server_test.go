package modeltest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const streamBody = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	text   string
	err    error // of reading it
}

func post(t *testing.T, s *Server, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/chat/completions", strings.NewReader(body))
	stdtest.Must(t, err)
	req.Header.Set("Authorization", "Bearer key")
	resp, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b), err}
}

func newServer(t *testing.T, opts ServerOptions, steps ...Step) *Server {
	t.Helper()
	s := NewServer(NewScript(steps...), opts)
	t.Cleanup(s.Close)
	return s
}

func TestServerFails(t *testing.T) {
	rate := &model.Error{Reason: model.ReasonRate, RetryAfter: 1500 * time.Millisecond, Message: "slow"}
	tests := []struct {
		name   string
		opts   ServerOptions
		step   Step
		body   string
		status int
		want   string
	}{
		{"bad key", ServerOptions{Key: "other"}, Say("x"), streamBody, 401, "invalid_api_key"},
		{"bad body", ServerOptions{}, Say("x"), `{`, 400, "invalid_request_error"},
		{"broken rule", ServerOptions{}, Say("x"), strings.Replace(streamBody, `"hi"`, `""`, 1), 400, "S4"},
		{"no stream", ServerOptions{}, Say("x"), strings.Replace(streamBody, `"stream":true,`, ``, 1), 400, "stream"},
		{"rate", ServerOptions{}, Fail(rate), streamBody, 429, "slow"},
		{"status", ServerOptions{}, Fail(&model.Error{Reason: model.ReasonOverloaded, Status: 529}), streamBody, 529, "server_error"},
		{"too long", ServerOptions{}, FailWith(model.ReasonTooLong, false), streamBody, 400, "context_length_exceeded"},
		{"foreign error", ServerOptions{}, Fail(errors.New("boom")), streamBody, 503, "boom"},
		{"error in the stream", ServerOptions{}, Step{Text: []string{"half"}, Err: &model.Error{Reason: model.ReasonOverloaded, Message: "busy"}}, streamBody, 200, `{"error":{"code":"server_error","message":"busy"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, newServer(t, tt.opts, tt.step), tt.body)
			if got.err != nil || got.status != tt.status || !strings.Contains(got.text, tt.want) {
				t.Errorf("%+v, want %d with %q", got, tt.status, tt.want)
			}
			if after := got.header.Get("Retry-After"); tt.status == 429 && after != "2" {
				t.Errorf("Retry-After is %q, want 2", after)
			}
		})
	}
}

// TestServerGivesTheRequest checks what the server's model gets.
func TestServerGivesTheRequest(t *testing.T) {
	body := `{"model":"m","stream":true,"max_tokens":7,"tool_choice":{"type":"function","function":{"name":"t"}},
		"tools":[{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"}]},
		{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c","content":"x"}]}`
	script := NewScript(Say("ok"))
	s := NewServer(script, ServerOptions{})
	defer s.Close()
	if got := post(t, s, body); got.err != nil || got.status != 200 {
		t.Fatalf("%+v", got)
	}
	req := script.Requests()[0]
	if req.System != "s" || req.MaxOutputTokens != 7 || req.ToolChoice != "tool:t" || len(req.Tools) != 1 || len(req.Messages) != 3 {
		t.Errorf("the model saw %+v", req)
	}
}
