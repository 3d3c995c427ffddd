package config

import (
	"net/url"
	"slices"
)

// provider describes an API that has a name.
type provider struct {
	name, baseURL string
	model         string // the default model; if it is empty, a model must be set
	// variables are the well-known variables for its key; the first one that is set counts. They are used
	// automatically at the service's own addresses. A provider without any needs no key.
	variables []string
	// hosts are further hosts of the same service, for example in another region.
	hosts []string
	// byKey says that the provider is chosen if its variable is set and nothing else selects a provider.
	byKey                  bool
	noEmbeddings, noSpeech bool
}

// providers are the APIs with a name. All use chat completions.
func providers() []provider {
	return []provider{
		{name: ProviderOpenAI, baseURL: "https://api.openai.com/v1", model: "gpt-4.1-mini", variables: []string{"OPENAI_API_KEY"}},
		{name: ProviderDeepSeek, baseURL: "https://api.deepseek.com/v1", model: "deepseek-chat", variables: []string{"DEEPSEEK_API_KEY"}, byKey: true, noEmbeddings: true, noSpeech: true},
		{name: ProviderAnthropic, baseURL: "https://api.anthropic.com/v1", variables: []string{"ANTHROPIC_API_KEY"}, byKey: true, noEmbeddings: true, noSpeech: true},
		{name: "gemini", baseURL: "https://generativelanguage.googleapis.com/v1beta/openai", variables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
		{name: "mistral", baseURL: "https://api.mistral.ai/v1", variables: []string{"MISTRAL_API_KEY"}},
		{name: "groq", baseURL: "https://api.groq.com/openai/v1", variables: []string{"GROQ_API_KEY"}, noEmbeddings: true},
		{name: "xai", baseURL: "https://api.x.ai/v1", variables: []string{"XAI_API_KEY"}},
		{name: "openrouter", baseURL: "https://openrouter.ai/api/v1", variables: []string{"OPENROUTER_API_KEY"}},
		{name: "together", baseURL: "https://api.together.xyz/v1", variables: []string{"TOGETHER_API_KEY"}},
		{name: "moonshot", baseURL: "https://api.moonshot.ai/v1", variables: []string{"MOONSHOT_API_KEY"}, hosts: []string{"api.moonshot.cn"}},
		{name: "zhipu", baseURL: "https://open.bigmodel.cn/api/paas/v4", variables: []string{"ZHIPUAI_API_KEY", "ZAI_API_KEY"}, hosts: []string{"api.z.ai"}},
		{name: "dashscope", baseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", variables: []string{"DASHSCOPE_API_KEY"}, hosts: []string{"dashscope-intl.aliyuncs.com"}},
		{name: "siliconflow", baseURL: "https://api.siliconflow.cn/v1", variables: []string{"SILICONFLOW_API_KEY"}, hosts: []string{"api.siliconflow.com"}},
		{name: "minimax", baseURL: "https://api.minimax.io/v1", variables: []string{"MINIMAX_API_KEY"}, hosts: []string{"api.minimaxi.com"}},
		{name: "ollama", baseURL: "http://127.0.0.1:11434/v1"},
		{name: "lmstudio", baseURL: "http://127.0.0.1:1234/v1"},
		{name: "vllm", baseURL: "http://127.0.0.1:8000/v1"},
	}
}

// providerOf returns the description of a provider; it is empty for custom and demo.
func providerOf(name string) provider {
	for _, p := range providers() {
		if p.name == name {
			return p
		}
	}
	return provider{}
}

// variable is the well-known variable to name in messages, or "".
func (p provider) variable() string {
	if len(p.variables) == 0 {
		return ""
	}
	return p.variables[0]
}

// ownHosts are the hosts of the service.
func (p provider) ownHosts() []string {
	u, err := url.Parse(p.baseURL)
	if err != nil || u.Host == "" {
		return nil
	}
	return append([]string{u.Host}, p.hosts...)
}

// needsKeyAt reports whether an address is the service's own and so needs a key.
func (p provider) needsKeyAt(address string) bool {
	return len(p.variables) > 0 && (address == "" || address == p.baseURL || isOwn(address, p.ownHosts()...))
}

// wellKnownHosts are the hosts of the service that a well-known variable belongs to.
func wellKnownHosts(name string) []string {
	for _, p := range (&Adapters{}).platforms() {
		if p.variable == name {
			return p.hosts
		}
	}
	for _, p := range providers() {
		if slices.Contains(p.variables, name) {
			return p.ownHosts()
		}
	}
	return nil
}
