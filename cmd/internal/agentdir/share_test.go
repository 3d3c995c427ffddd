package agentdir

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/config"
)

// TestBudget: the window less the longest answer bounds what a chat may send. The settings of the model win.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  config.LLM
		own  config.ModelSettings
		want int
	}{
		{"nothing is known", config.LLM{}, config.ModelSettings{}, 100_000},
		{"a large window", config.LLM{}, config.ModelSettings{ContextWindow: 1_000_000, MaxOutputTokens: 128_000}, 100_000},
		{"a small window", config.LLM{ContextWindow: 50_000}, config.ModelSettings{}, 45_000},
		{"a long answer of this model", config.LLM{}, config.ModelSettings{ContextWindow: 100_000, MaxOutputTokens: 60_000}, 36_000},
		{"a long answer of all models", config.LLM{MaxOutputTokens: 60_000}, config.ModelSettings{ContextWindow: 100_000}, 36_000},
		{"both", config.LLM{ContextWindow: 1, MaxOutputTokens: 1}, config.ModelSettings{ContextWindow: 100_000, MaxOutputTokens: 60_000}, 36_000},
	} {
		s := config.Settings{LLM: tt.all}
		s.LLM.Model, s.LLM.Models = "m", map[string]config.ModelSettings{"m": tt.own}
		s.Context.History.MaxInputTokensApprox = 100_000
		if got := Budget(s); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
