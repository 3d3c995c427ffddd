package config

import "testing"

// TestWellKnownKeys: the variable of each named provider counts at its own address, and
// goes to no other.
func TestWellKnownKeys(t *testing.T) {
	keys := map[string]string{"OPENAI_API_KEY": "sk-openai", "DEEPSEEK_API_KEY": "sk-deepseek", "ANTHROPIC_API_KEY": "sk-anthropic"}
	only := func(names ...string) map[string]string {
		out := map[string]string{}
		for _, n := range names {
			out[n] = keys[n]
		}
		return out
	}
	tests := []struct {
		name, ship     string
		env            map[string]string
		provider, key  string
		fallback, fail string
	}{
		{name: "deepseek", ship: `{"llm": {"provider": "deepseek"}}`, env: keys, provider: "deepseek", key: "sk-deepseek"},
		{name: "anthropic", ship: `{"llm": {"provider": "anthropic", "model": "claude"}}`, env: keys, provider: "anthropic", key: "sk-anthropic"},
		{name: "openai wins", ship: `{}`, env: keys, provider: "openai", key: "sk-openai"},
		{name: "a key alone", ship: `{}`, env: only("DEEPSEEK_API_KEY"), provider: "deepseek", key: "sk-deepseek"},
		{name: "a key with a model", ship: `{"llm": {"model": "claude"}}`, env: only("ANTHROPIC_API_KEY"), provider: "anthropic", key: "sk-anthropic"},
		{name: "a key that needs a model", ship: `{}`, env: only("ANTHROPIC_API_KEY"), provider: "demo"},
		{name: "the demo that was chosen", ship: `{"llm": {"provider": "demo"}}`, env: keys, provider: "demo"},
		{name: "another address", ship: `{"llm": {"provider": "deepseek", "baseUrl": "https://evil.example/v1"}}`, env: keys, provider: "deepseek"},
		{name: "another service", ship: `{"llm": {"provider": "deepseek", "baseUrl": "https://api.openai.com/v1"}}`, env: keys, provider: "deepseek"},
		{name: "an address without provider", ship: `{"llm": {"baseUrl": "https://evil.example/v1", "model": "m"}}`, env: only("DEEPSEEK_API_KEY"), provider: "openai"},
		{
			name: "fallbacks", ship: `{"llm": {"provider": "deepseek", "fallbacks": [{"provider": "anthropic", "model": "claude"}]}}`,
			env: keys, provider: "deepseek", key: "sk-deepseek", fallback: "sk-anthropic",
		},
		{
			name: "a fallback elsewhere", ship: `{"llm": {"provider": "deepseek", "fallbacks": [{"provider": "anthropic", "model": "claude", "baseUrl": "https://evil.example/v1"}]}}`,
			env: keys, provider: "deepseek", key: "sk-deepseek",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/"+FileName, tt.ship, 0o600)
			loaded, err := Load(Options{Dir: dir, Env: environment(tt.env)})
			if err != nil {
				t.Fatal(err)
			}
			llm := loaded.Settings.LLM
			if llm.Provider != tt.provider || llm.APIKey.Reveal() != tt.key {
				t.Errorf("got %s with %q, want %s with %q", llm.Provider, llm.APIKey.Reveal(), tt.provider, tt.key)
			}
			if len(llm.Fallbacks) > 0 && llm.Fallbacks[0].APIKey.Reveal() != tt.fallback {
				t.Errorf("the fallback has %q, want %q", llm.Fallbacks[0].APIKey.Reveal(), tt.fallback)
			}
		})
	}
}

// TestUnknownVariables: a misspelt variable of ours is named with the likely one; those
// that set something, or belong to others, are not.
func TestUnknownVariables(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/"+envFileName, "SMA_LLM_MODELL=x\n", 0o600)
	loaded, err := Load(Options{Dir: dir, Names: func() []string {
		return []string{"SMA_LLM_BASEURL", "SMA_LLM_MODEL", "SMA_TRUST", "PATH", "SMALL", "SMA_ADAPTERS_WEB_LISTEN"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range loaded.Findings {
		got = append(got, f.String())
	}
	want := []string{
		"SMA_LLM_BASEURL: no setting has the variable SMA_LLM_BASEURL; did you mean SMA_LLM_BASE_URL?",
		"SMA_LLM_MODELL: no setting has the variable SMA_LLM_MODELL; did you mean SMA_LLM_MODEL?",
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %q, want %q", got, want)
	}
}
