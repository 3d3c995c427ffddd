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

func jsonRefusal(message string) modeltest.Raw {
	return modeltest.Raw{Status: 400, Type: "application/json", Body: `{"error":{"message":"` + message + `","type":"invalid_request_error"}}`}
}

// Each protocol has its own fields for how much to think. A request without a word, or with one that
// the model is not known to take, leaves it to the settings, also when a chat changes between them.
func TestEffortOfARequest(t *testing.T) {
	for _, tt := range []struct {
		name     string
		api      API
		settings Settings
		want     map[string]string // by word
	}{
		{
			"chat completions", APIChat,
			Settings{Thinking: Thinking{Effort: "low"}, Efforts: map[string]Thinking{"off": {Type: "disabled"}, "high": {Effort: "high"}}},
			map[string]string{"": `"reasoning_effort":"low"`, "high": `"reasoning_effort":"high"`, "off": `"thinking":{"type":"disabled"},"stream"`, "huge": `"reasoning_effort":"low"`},
		},
		{
			"messages with efforts", APIMessages,
			Settings{Efforts: map[string]Thinking{"off": {Type: "disabled"}, "high": {Type: "adaptive", Effort: "high"}}},
			map[string]string{"": `]}]}`, "high": `]}],"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}`, "off": `]}],"thinking":{"type":"disabled"}}`, "huge": `]}]}`},
		},
		{
			"messages with budgets", APIMessages,
			Settings{MaxOutputTokens: 100, Efforts: map[string]Thinking{"low": {Type: "enabled", Budget: 2048}}},
			map[string]string{"": `"max_tokens":100,`, "low": `"max_tokens":2148,`},
		},
		{
			"responses", APIResponses,
			Settings{Thinking: Thinking{Effort: "low", Summary: "auto"}, Efforts: map[string]Thinking{"off": {Effort: "none"}, "high": {Effort: "high"}}},
			map[string]string{"": `"reasoning":{"effort":"low","summary":"auto"}`, "high": `"reasoning":{"effort":"high","summary":"auto"}`, "off": `"reasoning":{"effort":"none","summary":"auto"}`, "huge": `{"effort":"low",`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, server := habitModel(t, Options{Endpoint: Endpoint{API: tt.api, Settings: tt.settings}}, jsonRefusal("no"))
			req := hello()
			req.Memo = new(model.Memo)
			for word, want := range tt.want {
				req.Effort = word
				_, _, _ = said(t.Context(), m, req) // only the request counts
				bodies := server.Requests()
				if got := bodies[len(bodies)-1].Body; !strings.Contains(got, want) {
					t.Errorf("%q is asked with %s, want %s", word, got, want)
				}
			}
		})
	}
}

// A word that the service refuses is not sent again: the settings decide, and other words are still
// sent.
func TestRefusedEffort(t *testing.T) {
	for name, message := range map[string]string{
		"openai":      "Unsupported value: 'reasoning_effort' does not support 'high' with this model.",
		"responses":   "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
		"anthropic":   "adaptive thinking is not supported on this model",
		"a budget":    "max_tokens must be greater than thinking.budget_tokens",
		"temperature": "Unsupported value: 'temperature' does not support 0.5 with this model.",
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			m, server := habitModel(t, Options{
				Endpoint: Endpoint{Settings: Settings{Efforts: map[string]Thinking{"high": {Effort: "high"}, "low": {Effort: "low"}}}},
				Logger:   slog.New(slog.NewTextHandler(&log, nil)),
			}, jsonRefusal(message), wholeAnswer())
			req := hello()
			for _, req.Effort = range []string{"high", "high", "low"} {
				if text, finished, err := said(t.Context(), m, req); text != "a" || !finished {
					t.Fatalf("heard %q, finished %t, %v", text, finished, err)
				}
			}
			var sent []bool
			for _, r := range server.Requests() {
				sent = append(sent, strings.Contains(r.Body, "reasoning_effort"))
			}
			if len(sent) != 4 || !sent[0] || sent[1] || sent[2] || !sent[3] {
				t.Errorf("sent with an effort: %v", sent)
			}
			if n := strings.Count(log.String(), "refuses the requested thinking effort"); n != 1 || m.Health()[0].Efforts != "high" {
				t.Errorf("health %+v, logged %d times: %s", m.Health(), n, log.String())
			}
		})
	}
}

// A refusal of the settings' own effort, or of something else, is not answered with another request.
func TestOtherRefusalsKeepTheEffort(t *testing.T) {
	for _, tt := range []struct{ effort, message string }{
		{"", "Unsupported value: 'reasoning_effort' does not support 'high' with this model."},
		{"high", "Invalid `signature` in `thinking` block"},
		{"high", "messages: at least one message is required"},
	} {
		asked := model.Request{Effort: tt.effort}
		if refusesEffort(asked, &model.Error{Reason: model.ReasonBadRequest, Message: tt.message}) {
			t.Errorf("%q: %s", tt.effort, tt.message)
		}
	}
	if refusesEffort(model.Request{Effort: "high"}, &model.Error{Reason: model.ReasonRate, Message: "too much effort"}) {
		t.Error("a limit of the rate counts as a refused effort")
	}
}

// What was chosen for one model is not sent to the model that looks at pictures in its place, and to
// the model that answers when it fails only if that takes it.
func TestEffortBelongsToAModel(t *testing.T) {
	high := map[string]Thinking{"high": {Effort: "high"}}
	endpoint := func(s Settings, answers ...modeltest.Raw) (Endpoint, *modeltest.RawServer) {
		server := modeltest.NewRawServer(answers...)
		t.Cleanup(server.Close)
		return Endpoint{BaseURL: server.URL, Model: "m", Settings: s}, server
	}
	main, ofMain := endpoint(Settings{NoImages: true}, wholeAnswer())
	gone, _ := endpoint(Settings{NoImages: true, Efforts: high}, modeltest.Raw{Status: 401})
	seeing, ofSeeing := endpoint(Settings{Efforts: high}, wholeAnswer())
	c, err := NewChoices(Options{Endpoint: main}, []Choice{{"gone", gone}, {model.Vision, seeing}})
	stdtest.Must(t, err)
	picture := model.Request{Model: "gone", Effort: "high", Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.File{MediaType: "image/gif", Data: "R0lGODlhAQABAAAAACwAAAAAAQABAAA="},
	}}}}
	words := hello()
	words.Model, words.Effort = "gone", "high"
	for _, req := range []model.Request{picture, words} {
		if text, _, err := said(t.Context(), c, req); text != "a" {
			t.Fatalf("heard %q: %v", text, err)
		}
	}
	for name, server := range map[string]*modeltest.RawServer{"the main model": ofMain, "the model for pictures": ofSeeing} {
		if r := server.Requests(); len(r) != 1 || strings.Contains(r[0].Body, "reasoning_effort") {
			t.Errorf("%s was asked with %v", name, r)
		}
	}
}
