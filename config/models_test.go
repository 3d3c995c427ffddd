package config

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/catalog"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestProtocol(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    Fallback
		want catalog.API
	}{
		{"by provider", Fallback{Provider: "anthropic", Model: "claude-opus-5-5"}, catalog.Messages},
		{"of a gateway", Fallback{Provider: "anthropic", Model: "m", BaseURL: "https://gateway.example/v1"}, catalog.Messages},
		{"by model", Fallback{Provider: "openai", Model: "gpt-6-sol"}, catalog.Responses},
		{"by model at its own address", Fallback{Provider: "openai", Model: "gpt-6-sol", BaseURL: "https://api.openai.com/v1"}, catalog.Responses},
		{"the same model at another address", Fallback{Provider: "openai", Model: "gpt-6-sol", BaseURL: "https://gateway.example/v1"}, catalog.Chat},
		{"the same model at another service", Fallback{Provider: "openrouter", Model: "openai/gpt-6-sol"}, catalog.Chat},
		{"an older model", Fallback{Provider: "openai", Model: "gpt-4.1-mini"}, catalog.Chat},
		{"an unknown model", Fallback{Provider: "openai", Model: "m"}, catalog.Chat},
		{"Azure", Fallback{Provider: "custom", Model: "gpt-6-sol", BaseURL: "https://x.openai.azure.com", APIVersion: "2024-10-21"}, catalog.Chat},
		{"custom", Fallback{Provider: "custom", Model: "claude-opus-5-5", BaseURL: "https://x.example/v1"}, catalog.Chat},
		{"set", Fallback{Provider: "openai", Model: "gpt-6-sol", API: "chat"}, catalog.Chat},
		{"nothing", Fallback{}, catalog.Chat},
	} {
		if got := tt.f.Protocol(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestFallbacksHaveTheProtocolOfTheirAPI: a protocol that is set holds for fallbacks at the same address.
func TestFallbacksHaveTheProtocolOfTheirAPI(t *testing.T) {
	loaded, err := Load(Options{Dir: project(t, `{"llm": {"provider": "custom", "api": "messages", "model": "a", "baseUrl": "http://127.0.0.1:1/v1",
		"fallbacks": [{"model": "b"}, {"model": "c", "api": "chat"}, {"model": "d", "baseUrl": "http://127.0.0.1:2/v1"}]}}`, "")})
	stdtest.Must(t, err)
	for i, want := range []string{"messages", "chat", "chat"} {
		if got := loaded.Settings.LLM.Fallbacks[i].API; got != want {
			t.Errorf("fallback %d: %s, want %s", i, got, want)
		}
	}
}

// TestSettingsWinOverTheCatalog: what is set of a model, or of all models, is not replaced.
func TestSettingsWinOverTheCatalog(t *testing.T) {
	model := func(llm string) ModelSettings {
		t.Helper()
		loaded, err := Load(Options{Dir: project(t, `{"llm": {"provider": "anthropic", "model": "claude-haiku-4-5", "apiKey": "${K:-k}"`+llm+`}}`, "")})
		stdtest.Must(t, err)
		return loaded.Settings.LLM.Models["claude-haiku-4-5"]
	}
	if m := model(""); m.ContextWindow != 200000 || m.MaxOutputTokens != 64000 || m.Images == nil || !*m.Images || m.Files == nil || !*m.Files {
		t.Errorf("the catalog completes %+v", m)
	}
	if m := model(`, "models": {"claude-haiku-4-5": {"contextWindow": 5, "maxOutputTokens": 4, "images": false, "files": false}}`); m.ContextWindow != 5 || m.MaxOutputTokens != 4 || *m.Images || *m.Files {
		t.Errorf("settings of the model became %+v", m)
	}
	if m := model(`, "contextWindow": 5, "maxOutputTokens": 4`); m.ContextWindow != 0 || m.MaxOutputTokens != 0 {
		t.Errorf("settings of all models are replaced by %+v", m)
	}
	if m := model(`, "api": "chat"`); m.MaxOutputTokens != 0 {
		t.Errorf("chat completions are asked for at most %d tokens", m.MaxOutputTokens)
	}
}

// TestPrices: those of the settings count, else those of the catalog, which are enough for limits in dollars.
func TestPrices(t *testing.T) {
	llm := LLM{Models: map[string]ModelSettings{"gpt-4.1": {USDPerMInput: 7, USDPerMOutput: 8}, "gpt-4.1-mini": {USDPerMInput: 7}}}
	for _, tt := range []struct {
		provider, model string
		input           float64 // 0: unknown
		set             bool
	}{
		{"openai", "gpt-4.1", 7, true},
		{"custom", "gpt-4.1", 7, true},
		{"openai", "gpt-4.1-mini", 0.4, false},
		{"openrouter", "openai/gpt-4.1-mini", 0, false},
		{"openai", "m", 0, false},
	} {
		p, set := llm.Prices(Fallback{Provider: tt.provider, Model: tt.model})
		if set != tt.set || (p != nil) != (tt.input > 0) || p != nil && p.Input != tt.input {
			t.Errorf("%s at %s: %+v, %v", tt.model, tt.provider, p, set)
		}
	}
	const ship = `{"llm": {"provider": "openai", "model": "gpt-4.1", "apiKey": "${K:-k}"}, "budget": {"usdPerRun": 1}}`
	if _, err := Load(Options{Dir: project(t, ship, "")}); err != nil {
		t.Error(err)
	}
}

// TestLimitsInDollarsNeedPrices: of every model that can be asked, whatever for. Limits in tokens need none.
func TestLimitsInDollarsNeedPrices(t *testing.T) {
	for _, tt := range []struct {
		name, models, budget, want string
	}{
		{"main", `"model": "m"`, `"usdPerRun": 1`, "llm.models.m"},
		{"fallback", `"model": "gpt-4.1", "fallbacks": [{"model": "f"}]`, `"usdPerChatPerDay": 1`, "llm.models.f"},
		{"choice", `"model": "gpt-4.1", "choices": [{"name": "deep", "model": "c"}]`, `"usdPerHostPerDay": 1`, "llm.models.c"},
		{"summaries", `"model": "gpt-4.1", "choices": [{"name": "summary", "model": "s"}]`, `"usdPerRun": 1`, "llm.models.s"},
		{"memory", `"model": "gpt-4.1", "choices": [{"name": "memory", "model": "s"}]`, `"usdPerRun": 1`, "llm.models.s"},
		{"pictures", `"model": "gpt-4.1", "choices": [{"name": "vision", "model": "v"}]`, `"usdPerRun": 1`, "llm.models.v"},
		{"with prices", `"model": "m", "models": {"m": {"usdPerMInput": 1, "usdPerMOutput": 2}}`, `"usdPerRun": 1`, ""},
		{"that cost nothing", `"model": "gpt-4.1", "fallbacks": [{"model": "f"}], "models": {"f": {"usdPerMInput": 0, "usdPerMOutput": 0}}`, `"usdPerRun": 1`, ""},
		{"half a price", `"model": "m", "models": {"m": {"usdPerMInput": 1, "usdPerMOutput": 0}}`, `"usdPerRun": 1`, "llm.models.m"},
		{"in tokens", `"model": "m", "fallbacks": [{"model": "f"}]`, `"runTokens": 1, "chatTokensPerDay": 2, "hostTokensPerDay": 3`, ""},
		{"off", `"model": "m"`, `"usdPerRun": "off"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Options{Dir: project(t, `{"llm": {"provider": "openai", "apiKey": "${K:-k}", `+tt.models+`}, "budget": {`+tt.budget+`}}`, "")})
			if refused := err != nil; refused != (tt.want != "") || refused && !strings.Contains(err.Error(), "set usdPerMInput and usdPerMOutput in "+tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestBudgetFaults: what a limit needs and does not have is an error at the start.
func TestBudgetFaults(t *testing.T) {
	const priced = `"model": "gpt-4.1", "choices": [{"name": "fast", "model": "gpt-4.1-nano"}, {"name": "same", "model": "gpt-4.1"}]`
	for _, tt := range []struct{ name, models, more, want string }{
		{"cheaper without a name", priced, `"budget": {"atLimit": "cheaper"}`, "budget.cheaper is not set"},
		{"cheaper of nothing", priced, `"budget": {"atLimit": "cheaper", "cheaper": "none"}`, "budget.cheaper is not among llm.choices"},
		{"cheaper is the main model", priced, `"budget": {"atLimit": "cheaper", "cheaper": "same"}`, "budget.cheaper is the main model itself"},
		{"cheaper without a price", `"model": "gpt-4.1", "choices": [{"name": "fast", "model": "f"}]`, `"budget": {"usdPerPersonPerHour": 1, "atLimit": "cheaper", "cheaper": "fast"}`, "llm.models.f"},
		{"cheaper", priced, `"budget": {"usdPerHostPerMonth": 1, "atLimit": "cheaper", "cheaper": "fast"}`, ""},
		{"a limit of a person without a price", `"model": "m"`, `"budget": {"usdPerPersonPerMonth": 1}`, "llm.models.m"},
		{"recordings without a price", priced, `"budget": {"usdPerRun": 1}, "speech": {"transcribe": {"model": "whisper-1"}}`, "speech.transcribe.usdPerMinute is not set"},
		{"speech without a price", priced, `"budget": {"usdPerRun": 1}, "speech": {"speak": {"model": "tts-1"}}`, "speech.speak.usdPerMChars is not set"},
		{"speech by a program", priced, `"budget": {"usdPerRun": 1}, "speech": {"speak": {"command": ["say"]}}`, ""},
		{"embeddings without a price", priced, `"budget": {"usdPerRun": 1}, "context": {"memory": {"embeddingModel": "e"}}`, "set usdPerMInput in llm.models.e"},
		{"embeddings of the catalog", priced, `"budget": {"usdPerRun": 1}, "context": {"memory": {"embeddingModel": "text-embedding-3-small"}}`, ""},
		{"embeddings with a price", priced + `, "models": {"e": {"usdPerMInput": 0.1}}`, `"budget": {"usdPerRun": 1}, "context": {"memory": {"embeddingModel": "e"}}`, ""},
		{"embeddings that cost nothing", priced + `, "models": {"e": {"usdPerMInput": 0}}`, `"budget": {"usdPerRun": 1}, "context": {"memory": {"embeddingModel": "e"}}`, ""},
		{"a month that is removed", priced, `"budget": {"hostTokensPerMonth": 1}, "retention": {"auditDays": 7}`, "retention.auditDays removes"},
		{"a month that is kept", priced, `"budget": {"hostTokensPerMonth": 1}, "retention": {"auditDays": 31}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Options{Dir: project(t, `{"llm": {"provider": "openai", "apiKey": "${K:-k}", `+tt.models+`}, `+tt.more+`}`, "")})
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestCatalogIsNoChange: another model is one change, not also those of what the catalog knows of it.
func TestCatalogIsNoChange(t *testing.T) {
	load := func(model string) *Loaded {
		t.Helper()
		loaded, err := Load(Options{Dir: project(t, `{"llm": {"provider": "openai", "model": "`+model+`", "apiKey": "${K:-k}"}}`, "")})
		stdtest.Must(t, err)
		return loaded
	}
	changed, err := load("gpt-4.1").Changed(load("gpt-5"))
	if err != nil || len(changed) != 1 || changed[0] != "llm.model" {
		t.Errorf("changed %q, %v", changed, err)
	}
}
