package provider

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// habitModel returns a model that calls a raw server.
func habitModel(t *testing.T, o Options, answers ...modeltest.Raw) (*Model, *modeltest.RawServer) {
	t.Helper()
	server := modeltest.NewRawServer(answers...)
	t.Cleanup(server.Close)
	o.BaseURL, o.Model, o.APIKey = server.URL, "m", testKey
	return newModel(t, o), server
}

func wholeAnswer() modeltest.Raw {
	return modeltest.Events(modeltest.Delta(`{"content":"a"}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
}

// A model that refuses tools is immediately called without them, and from then on. Earlier calls
// become text for it.
func TestModelWithoutToolsIsFoundOut(t *testing.T) {
	for name, refusal := range map[string]modeltest.Raw{
		"ollama":     {Status: 400, Type: "application/json", Body: `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}`},
		"openrouter": {Status: 404, Type: "application/json", Body: `{"error":{"message":"No endpoints found that support tool use.","code":404}}`},
		"vllm":       {Status: 400, Type: "application/json", Body: `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}`},
		"llama.cpp":  {Status: 500, Type: "application/json", Body: `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`},
		"deepseek":   {Status: 400, Type: "application/json", Body: `{"error":{"message":"deepseek-reasoner does not support Function Calling"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			m, server := habitModel(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, refusal, wholeAnswer())
			req := history()
			req.Tools, req.System, req.Memo = []model.ToolSpec{{Name: "t", InputSchema: []byte(`{"type":"object"}`)}}, "You are Ada.", new(model.Memo)
			for range 2 {
				if text, finished, err := said(t.Context(), m, req); text != "a" || !finished {
					t.Fatalf("heard %q, finished %t, %v", text, finished, err)
				}
			}
			bodies := server.Requests()
			if len(bodies) != 3 || !strings.Contains(bodies[0].Body, `"tools":`) || strings.Contains(bodies[1].Body, `"tools":`) || bodies[1].Body != bodies[2].Body {
				t.Fatalf("asked with %+v", bodies)
			}
			for _, want := range []string{"No tools can be called", "[used t with {}]", "[result of t: x]"} {
				if !strings.Contains(bodies[1].Body, want) {
					t.Errorf("the request lacks %q: %s", want, bodies[1].Body)
				}
			}
			if err := modeltest.StrictBody([]byte(bodies[1].Body)); err != nil {
				t.Error(err)
			}
			if n := strings.Count(log.String(), "refuses tools"); n != 1 || !m.Health()[0].NoTools {
				t.Errorf("logged %d times: %s", n, log.String())
			}
		})
	}
}

// Refusals that only look similar do not remove the tools.
func TestOtherRefusalsKeepTheTools(t *testing.T) {
	for _, message := range []string{
		"Unsupported parameter: parallel_tool_calls is not supported", "Invalid schema for function 't': tools[0] format is not supported",
		"tool_call_id is not supported here", "images are not supported",
	} {
		if refusesTools(&model.Error{Reason: model.ReasonBadRequest, Message: message}) {
			t.Errorf("%q", message)
		}
	}
}

// Azure's classic URL, headers, the organization and query parameters follow the endpoint's
// settings.
func TestEndpointsExtras(t *testing.T) {
	for _, tt := range []struct {
		name    string
		azure   string
		path    string
		headers map[string]string
		query   string
	}{
		{"as OpenAI", "", "/v1/chat/completions", map[string]string{"Authorization": "Bearer " + testKey, "Openai-Organization": "org-1", "X-Team": "red"}, "tier=gold"},
		{"Azure", "2024-10-21", "/v1/openai/deployments/m/chat/completions", map[string]string{"Api-Key": testKey, "X-Team": "red"}, "api-version=2024-10-21&tier=gold"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := modeltest.NewRawServer(wholeAnswer())
			t.Cleanup(server.Close)
			m := newModel(t, Options{Endpoint: Endpoint{
				BaseURL: server.URL, Model: "m", APIKey: testKey, Organization: "org-1", AzureVersion: tt.azure,
				Headers: map[string]Secret{"X-Team": "red"}, Query: map[string]Secret{"tier": "gold"},
			}})
			if text, _, err := said(t.Context(), m, hello()); text != "a" {
				t.Fatalf("heard %q, %v", text, err)
			}
			got := server.Requests()[0]
			if got.Path != tt.path || got.Query.Encode() != tt.query {
				t.Errorf("asked %s?%s, want %s?%s", got.Path, got.Query.Encode(), tt.path, tt.query)
			}
			for name, want := range tt.headers {
				if got.Header.Get(name) != want {
					t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
				}
			}
			if tt.azure != "" && got.Header.Get("Authorization") != "" {
				t.Error("Azure got the key twice")
			}
		})
	}
}

// A wrong URL is reported after one request, whatever it responds with.
func TestWrongAddressIsAskedOnce(t *testing.T) {
	for _, raw := range []modeltest.Raw{{Type: "text/html", Body: "<html></html>"}, {Type: "application/json", Body: `{"hello":"world"}`}, {Type: "text/plain", Body: "hello"}, {Status: 501, Type: "text/html", Body: "<html></html>"}} {
		m, server := habitModel(t, Options{}, raw)
		_, _, err := said(t.Context(), m, hello())
		if model.ReasonOf(err) != model.ReasonAddress || len(server.Requests()) != 1 {
			t.Errorf("%d requests: %v", len(server.Requests()), err)
		}
	}
}
