package endpoints

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
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
			if diff := cmp.Diff(tt.want, thinking(tt.effort, tt.known)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The protocol decides where the settings of a model go.
func TestOf(t *testing.T) {
	half := 0.5
	llm := config.LLM{Models: map[string]config.ModelSettings{"m": {ReasoningEffort: "low", Temperature: &half, MaxOutputTokens: 9}}}
	chat := Of(llm, config.Fallback{Provider: "custom", Model: "m", BaseURL: "https://a.test/v1"})
	if want := []provider.Member{{Name: "temperature", Value: []byte("0.5")}, {Name: "reasoning_effort", Value: []byte(`"low"`)}}; chat.API != provider.APIChat || !cmp.Equal(want, chat.Settings.Members) {
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
