package catalog

import "testing"

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		provider, name, entry string // an empty entry is not found
		api                   API
		window                int
		priced                bool
	}{
		{"anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5", "", 200000, true},
		{"anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "", 200000, true},
		{"anthropic", " Claude-Opus-5-5 ", "claude-opus-5-5", "", 1000000, true},
		{"openrouter", "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "", 200000, false},
		{"openrouter", "anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4-5", "", 200000, false},
		{"", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5", "", 200000, false},
		{"anthropic", "claude-3-7-sonnet-latest", "claude-3-7-sonnet", "", 200000, true},
		{"anthropic", "claude-3-opus-20240229", "claude-3-*", "", 200000, false},
		{"anthropic", "claude-next-9", "claude-*", "", 200000, false},
		{"openai", "gpt-6-sol", "gpt-6-sol", Responses, 1050000, true},
		{"openai", "gpt-6-unheard-of", "gpt-6*", Responses, 0, false},
		{"openrouter", "openai/gpt-6-sol", "gpt-6-sol", "", 1050000, false},
		{"", "gpt-6-sol", "gpt-6-sol", "", 1050000, false},
		{Local, "gpt-6-sol", "gpt-6-sol", "", 0, false},
		{"openai", "gpt-5.6-sol-2026-07-09", "gpt-5.6-sol", Responses, 1050000, true},
		{"openai", "gpt-5-mini", "gpt-5-mini", "", 400000, true},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13", "", 128000, true},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o", "", 128000, true},
		{"openai", "gpt-4o-audio-preview", "gpt-4o*", "", 0, false},
		{"openai", "gpt-4-0613", "gpt-4-*", "", 0, false},
		{"openai", "gpt-4.1-other", "gpt-4.*", "", 0, false},
		{"groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b", "", 131072, true},
		{"openrouter", "openai/gpt-oss-120b", "gpt-oss*", "", 131072, false},
		{"ollama", "gpt-oss:20b", "gpt-oss*", "", 0, false},
		{"deepseek", "deepseek-v4-flash", "deepseek-v4-flash", "", 1000000, true},
		{"siliconflow", "deepseek-ai/DeepSeek-V4-Flash", "deepseek-v4-flash", "", 0, false},
		{"minimax", "MiniMax-M2.7", "minimax-m2.7", "", 200000, true},
		{"dashscope", "qwen2.5-vl-72b-instruct", "qwen2.5-vl*", "", 0, false},
		{"custom", "unheard-of", "", "", 0, false},
		{"custom", "", "", "", 0, false},
	} {
		t.Run(tt.provider+" "+tt.name, func(t *testing.T) {
			m, ok := Find(tt.provider, tt.name)
			if ok != (tt.entry != "") || m.Name != tt.entry {
				t.Fatalf("found %q (%v), want %q", m.Name, ok, tt.entry)
			}
			if m.API != tt.api || m.ContextWindow != tt.window || (m.USD != nil) != tt.priced {
				t.Errorf("protocol %q, window %d, prices %v; want %q, %d, %v", m.API, m.ContextWindow, m.USD, tt.api, tt.window, tt.priced)
			}
		})
	}
}

// TestWhichModelsTakeFiles: what was known before of models by their names is in the catalog.
func TestWhichModelsTakeFiles(t *testing.T) {
	for _, tt := range []struct{ name, images, files string }{
		{"gpt-4o", "yes", "yes"},
		{"gpt-4.1-mini", "yes", "yes"},
		{"gpt-5", "yes", "yes"},
		{"claude-sonnet-4-5", "yes", "yes"},
		{"gemini-2.5-pro", "yes", "yes"},
		{"gpt-3.5-turbo", "no", "no"},
		{"gpt-4-turbo-2024-04-09", "yes", "no"},
		{"gpt-oss:120b", "no", "no"},
		{"deepseek-chat", "no", "no"},
		{"deepseek-reasoner", "no", "no"},
		{"deepseek-ai/DeepSeek-R1-0528", "no", "no"},
		{"deepseek-v3.2", "no", "no"},
		{"deepseek-ocr", "yes", "no"},
		{"o1-mini-2024-09-12", "no", "no"},
		{"o3-mini", "no", "no"},
		{"qwen2.5-72b-instruct", "no", "no"},
		{"qwen2.5-vl-72b-instruct", "yes", "no"},
		{"Qwen3-VL-235B", "yes", "no"},
		{"qwen3-32b", "no", "no"},
		{"qwq-32b", "no", "no"},
		{"glm-4.6", "no", "no"},
		{"glm-4.5v", "yes", "no"},
		{"glm-4-flash", "no", "no"},
		{"kimi-k2-0905-preview", "no", "no"},
		{"kimi-k2.5", "yes", "no"},
		{"moonshot-v1-32k", "no", "no"},
		{"meta-llama/llama-3.3-70b", "no", "no"},
		{"llama3.1:8b", "no", "no"},
		{"llama-3.2-11b-vision", "", "no"},
		{"open-mixtral-8x7b", "no", "no"},
		{"codestral-2508", "no", "no"},
		{"pixtral-12b", "yes", "no"},
		{"grok-2", "", "no"},
		{"minimax-m1-80k", "no", "no"},
		{"command-r-plus", "no", "no"},
		{"phi-4-mini-instruct", "no", "no"},
		{"gemma2:9b", "no", "no"},
		{"yi-large-turbo", "no", "no"},
		{"somebody/unheard-of", "", ""},
	} {
		word := func(takes *bool) string {
			switch {
			case takes == nil:
				return ""
			case *takes:
				return "yes"
			}
			return "no"
		}
		m, _ := Find("", tt.name)
		if images, files := word(m.Images), word(m.Files); images != tt.images || files != tt.files {
			t.Errorf("%s takes images %q and documents %q, want %q and %q", tt.name, images, files, tt.images, tt.files)
		}
	}
}

// FuzzFind: a name of any form is looked up, and what is found elsewhere has no prices.
func FuzzFind(f *testing.F) {
	for _, name := range []string{"", "/", "a/b:c@d", ":", "claude-sonnet-4.5:free", "-latest", "gpt-5-20250101-latest"} {
		f.Add("openrouter", name)
	}
	f.Fuzz(func(t *testing.T, provider, name string) {
		m, ok := Find(provider, name)
		if ok != (m.Name != "") || m.Provider != provider && (m.USD != nil || m.API != "") {
			t.Errorf("%q at %q: %v %+v", name, provider, ok, m)
		}
	})
}
