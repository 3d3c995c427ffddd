package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/catalog"
	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestWellKnownKeys: the variable of each named provider is used at the provider's own address and
// at no other.
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
			stdtest.Must(t, err)
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

// TestUnknownVariables: a misspelt variable of ours is reported with the likely name. Variables
// that set something, or belong to other programs, are not reported.
func TestUnknownVariables(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/"+keys.EnvFile, "SMA_LLM_MODELL=x\n", 0o600)
	loaded, err := Load(Options{Dir: dir, Names: func() []string {
		return []string{"SMA_LLM_BASEURL", "SMA_LLM_MODEL", "SMA_TRUST", "PATH", "SMALL", "SMA_ADAPTERS_WEB_LISTEN"}
	}})
	stdtest.Must(t, err)
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

// TestProviders: every provider has its own address and variables, and the settings accept exactly
// the names in the catalog. A named provider needs a key and a model, and its variable is used only
// at its own hosts.
func TestProviders(t *testing.T) {
	want := []struct {
		name, address string
		variables     string
	}{
		{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY"},
		{"deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
		{"anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY GOOGLE_API_KEY"},
		{"mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"},
		{"groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
		{"xai", "https://api.x.ai/v1", "XAI_API_KEY"},
		{"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
		{"together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
		{"moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"},
		{"zhipu", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY ZAI_API_KEY"},
		{"dashscope", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"},
		{"siliconflow", "https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"},
		{"minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY"},
		{"ollama", "http://127.0.0.1:11434/v1", ""},
		{"lmstudio", "http://127.0.0.1:1234/v1", ""},
		{"vllm", "http://127.0.0.1:8000/v1", ""},
	}
	if n := len(catalog.Providers()); len(want) != n {
		t.Fatalf("%d providers, want %d", n, len(want))
	}
	all := map[string]string{}
	var names []string
	for _, p := range catalog.Providers() {
		names = append(names, p.Name)
		for _, v := range p.Variables {
			if all[v] != "" {
				t.Errorf("%s is the variable of two providers", v)
			}
			all[v] = "key-of-" + v
		}
	}
	for block, add := range map[any][]string{&LLM{}: {"custom", "demo"}, &Fallback{}: {"custom"}} {
		if k, _ := keys.Table(block).Child("provider"); !slices.Equal(k.Words, append(slices.Clone(names), add...)) {
			t.Errorf("%T takes %v, the catalog has %v", block, k.Words, names)
		}
		apis := []string{string(catalog.Chat), string(catalog.Responses), string(catalog.Messages)}
		if k, _ := keys.Table(block).Child("api"); !slices.Equal(k.Words, apis) {
			t.Errorf("%T takes the protocols %v, the catalog has %v", block, k.Words, apis)
		}
	}
	load := func(ship string, env map[string]string) (LLM, string) {
		dir := t.TempDir()
		write(t, dir+"/"+FileName, ship, 0o600)
		loaded, err := Load(Options{Dir: dir, Env: environment(env)})
		if err != nil {
			return LLM{}, err.Error()
		}
		return loaded.Settings.LLM, ""
	}
	for i, tt := range want {
		t.Run(tt.name, func(t *testing.T) {
			p := provider{catalog.Providers()[i]}
			if p.Name != tt.name || p.BaseURL != tt.address || strings.Join(p.Variables, " ") != tt.variables {
				t.Errorf("got %s, %s, %v", p.Name, p.BaseURL, p.Variables)
			}
			ship := `{"llm": {"provider": "` + tt.name + `", "model": "m"}}`
			got, fault := load(ship, all)
			if want := all[p.variable()]; fault != "" || got.BaseURL != tt.address || got.APIKey.Reveal() != want {
				t.Errorf("got %s with %q, want %q; %s", got.BaseURL, got.APIKey.Reveal(), want, fault)
			}
			if n := len(p.Variables); n > 1 {
				if got, fault := load(ship, map[string]string{p.Variables[n-1]: "k"}); fault != "" || got.APIKey.Reveal() != "k" {
					t.Errorf("%s does not count: %s", p.Variables[n-1], fault)
				}
			}
			_, fault = load(ship, nil)
			if wants := len(p.Variables) > 0; wants != strings.Contains(fault, "set "+p.variable()+" in the environment") || !wants && fault != "" {
				t.Errorf("without a key: %q", fault)
			}
			got, _ = load(strings.Replace(ship, `"model"`, `"baseUrl": "https://evil.example/v1", "model"`, 1), all)
			if got.APIKey.Reveal() != "" {
				t.Errorf("another address gets %q", got.APIKey.Reveal())
			}
			for _, host := range p.Hosts {
				got, fault := load(strings.Replace(ship, `"model"`, `"baseUrl": "https://`+host+`/v1", "model"`, 1), all)
				if fault != "" || got.APIKey.Reveal() != all[p.variable()] {
					t.Errorf("%s gets %q: %s", host, got.APIKey.Reveal(), fault)
				}
			}
			if _, fault := load(`{"llm": {"provider": "`+tt.name+`q", "model": "m"}}`, all); !strings.Contains(fault, `did you mean "`+tt.name+`"`) {
				t.Errorf("misspelt: %q", fault)
			}
		})
	}
}
