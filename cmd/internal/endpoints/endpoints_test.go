package endpoints

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestThinking(t *testing.T) {
	byEffort := &catalog.Thinking{Efforts: []string{"low", "medium", "high", "max"}}
	byBudget := &catalog.Thinking{Budget: &catalog.Range{Min: 4096, Max: 20000}}
	for _, tt := range []struct {
		name, effort string
		known        *catalog.Thinking
		want         provider.Thinking
	}{
		{"left to the model", "", byEffort, provider.Thinking{}},
		{"off", "none", byEffort, provider.Thinking{Type: "disabled"}},
		{"cannot be turned off", "none", &catalog.Thinking{Always: true}, provider.Thinking{}},
		{"an effort", "high", byEffort, provider.Thinking{Type: "adaptive", Effort: "high"}},
		{"an effort that it does not take", "xhigh", byEffort, provider.Thinking{Type: "adaptive", Effort: "high"}},
		{"less than its least", "minimal", byEffort, provider.Thinking{Type: "adaptive", Effort: "low"}},
		{"a budget", "medium", byBudget, provider.Thinking{Type: "enabled", Budget: 8192}},
		{"a budget below the least", "minimal", byBudget, provider.Thinking{Type: "enabled", Budget: 4096}},
		{"a budget above the most", "max", byBudget, provider.Thinking{Type: "enabled", Budget: 20000}},
		{"of an unknown model", "low", nil, provider.Thinking{Type: "enabled", Budget: 2048}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdtest.Diff(t, "", tt.want, thinking(tt.effort, tt.known))
		})
	}
}

// The protocol decides where the settings of a model go.
func TestOf(t *testing.T) {
	half := 0.5
	llm := config.LLM{Models: map[string]config.ModelSettings{"m": {ReasoningEffort: "low", Temperature: &half, MaxOutputTokens: 9}}}
	chat := Of(llm, config.Fallback{Provider: "custom", Model: "m", BaseURL: "https://a.test/v1"})
	if want := []provider.Member{{Name: "temperature", Value: []byte("0.5")}}; chat.API != provider.APIChat || !cmp.Equal(want, chat.Settings.Members) || chat.Settings.Thinking != (provider.Thinking{Effort: "low"}) {
		t.Errorf("chat completions: %+v", chat)
	}
	messages := Of(llm, config.Fallback{Provider: "custom", API: "messages", Model: "m", BaseURL: "https://a.test/v1"})
	if messages.API != provider.APIMessages || messages.Settings.Thinking != (provider.Thinking{Type: "enabled", Budget: 2048}) || len(messages.Settings.Members) != 1 {
		t.Errorf("messages: %+v", messages)
	}
	responses := Of(llm, config.Fallback{Provider: "custom", API: "responses", Model: "m", BaseURL: "https://a.test/v1"})
	if responses.API != provider.APIResponses || responses.Settings.Thinking != (provider.Thinking{Effort: "low"}) || len(responses.Settings.Members) != 1 {
		t.Errorf("responses: %+v", responses)
	}
}

// People choose what the catalog knows that a model takes on its protocol, and nothing of a model that does not think or
// whose thinking is not known to be controlled.
func TestEfforts(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    config.Fallback
		want map[string]provider.Thinking
	}{
		{"chat completions, with a word for off", config.Fallback{Provider: "mistral", Model: "mistral-small-latest", BaseURL: "https://api.mistral.ai/v1"}, map[string]provider.Thinking{
			"off": {Effort: "none"}, "high": {Effort: "high"},
		}},
		{"chat completions, with a field for off", config.Fallback{Provider: "deepseek", Model: "deepseek-flash", BaseURL: "https://api.deepseek.com/v1"}, map[string]provider.Thinking{
			"off": {Type: "disabled"}, "low": {Effort: "low"}, "high": {Effort: "high"}, "max": {Effort: "max"},
		}},
		{"that model elsewhere", config.Fallback{Provider: "custom", Model: "deepseek-flash", BaseURL: "https://a.test/v1"}, map[string]provider.Thinking{
			"low": {Effort: "low"}, "high": {Effort: "high"}, "max": {Effort: "max"},
		}},
		{"messages", config.Fallback{Provider: "anthropic", Model: "claude-opus-4-6", BaseURL: "https://api.anthropic.com/v1"}, map[string]provider.Thinking{
			"off": {Type: "disabled"}, "low": {Type: "adaptive", Effort: "low"}, "medium": {Type: "adaptive", Effort: "medium"},
			"high": {Type: "adaptive", Effort: "high"}, "max": {Type: "adaptive", Effort: "max"},
		}},
		{"messages, always on", config.Fallback{Provider: "anthropic", Model: "claude-opus-5-5", BaseURL: "https://api.anthropic.com/v1"}, map[string]provider.Thinking{
			"low": {Type: "adaptive", Effort: "low"}, "medium": {Type: "adaptive", Effort: "medium"}, "high": {Type: "adaptive", Effort: "high"},
			"xhigh": {Type: "adaptive", Effort: "xhigh"}, "max": {Type: "adaptive", Effort: "max"},
		}},
		{"messages, by budget", config.Fallback{Provider: "anthropic", Model: "claude-haiku-4-5", BaseURL: "https://api.anthropic.com/v1"}, map[string]provider.Thinking{
			"off": {Type: "disabled"}, "low": {Type: "enabled", Budget: 2048}, "medium": {Type: "enabled", Budget: 8192}, "high": {Type: "enabled", Budget: 16384},
		}},
		{"responses", config.Fallback{Provider: "openai", Model: "gpt-5.1", BaseURL: "https://api.openai.com/v1"}, map[string]provider.Thinking{
			"off": {Effort: "none"}, "low": {Effort: "low"}, "medium": {Effort: "medium"}, "high": {Effort: "high"},
		}},
		{"by budget, in chat completions", config.Fallback{Provider: "gemini", Model: "gemini-2.5-pro", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}, nil},
		{"control unknown", config.Fallback{Provider: "xai", Model: "grok-4.7", BaseURL: "https://api.x.ai/v1"}, nil},
		{"does not think", config.Fallback{Provider: "openai", Model: "gpt-4.1-mini", BaseURL: "https://api.openai.com/v1"}, nil},
		{"an unknown model", config.Fallback{Provider: "custom", Model: "m", BaseURL: "https://a.test/v1"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdtest.Diff(t, "", tt.want, Of(config.LLM{}, tt.f).Settings.Efforts)
			offered := Answering(config.LLM{Choices: []config.Fallback{tt.f}})[1].Efforts
			if words := slices.Sorted(maps.Keys(tt.want)); !slices.Equal(words, slices.Sorted(slices.Values(offered))) {
				t.Errorf("people are offered %v", offered)
			}
		})
	}
}

// What requests cost is known for every model with prices, and what an answer may have is reserved.
func TestCosts(t *testing.T) {
	llm := config.LLM{Models: map[string]config.ModelSettings{"m": {USDPerMInput: 1, USDPerMOutput: 2}}}
	at := "https://api.openai.com/v1"
	if e := Of(llm, config.Fallback{Provider: "openai", Model: "m", BaseURL: at}); e.Cost == nil || e.Cost(1, 0, 0, 1) != 3000 || e.Settings.OutputLimit != 0 {
		t.Errorf("prices of the settings: %+v", e)
	}
	if e := Of(llm, config.Fallback{Provider: "openai", Model: "gpt-4.1", BaseURL: at}); e.Cost == nil || e.Cost(1, 0, 0, 0) != 2000 || e.Settings.OutputLimit != 32768 {
		t.Errorf("prices of the catalog: %+v", e)
	}
	if e := Of(llm, config.Fallback{Provider: "openai", Model: "unknown", BaseURL: at}); e.Cost != nil {
		t.Error("an unknown model has prices")
	}
}
