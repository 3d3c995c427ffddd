package config

import (
	"net/url"
	"slices"
)

// withOwnKeys are the providers beside openai whose well-known variable counts.
func withOwnKeys() []string { return []string{ProviderDeepSeek, ProviderAnthropic} }

// wellKnownHost is the host of the service that a well-known variable belongs to, or "".
func wellKnownHost(name string) string {
	if name == "TELEGRAM_BOT_TOKEN" {
		return "api.telegram.org"
	}
	for _, p := range append(withOwnKeys(), ProviderOpenAI) {
		if known := providerOf(p); known.variable == name {
			u, err := url.Parse(known.baseURL)
			if err != nil { // Unreachable: the addresses are constants
				return ""
			}
			return u.Host
		}
	}
	return ""
}

// chooseByKey chooses the provider whose well-known variable is set while nothing else
// says which one is meant. A base URL or key of the settings is no such case, and a
// provider without a default model needs a model.
func (l *loader) chooseByKey() bool {
	llm := &l.settings.LLM
	if !l.origins.untouched("llm.apiKey") || !l.origins.untouched("llm.baseUrl") || l.isMissing("llm.apiKey") || l.isMissing("llm.baseUrl") {
		return false
	}
	i := slices.IndexFunc(withOwnKeys(), func(name string) bool {
		known := providerOf(name)
		key, set := l.lookup(known.variable)
		return set && key != "" && (known.model != "" || llm.Model != "")
	})
	if i < 0 {
		return false
	}
	llm.Provider = withOwnKeys()[i]
	l.follow("llm.provider", providerOf(llm.Provider).variable)
	return true
}

// fallbackKey gives a fallback the well-known variable of its provider, at the service's
// own address alone.
func (l *loader) fallbackKey(f *Fallback, at string) {
	known := providerOf(f.Provider)
	if !f.APIKey.IsZero() || known.variable == "" || l.isMissing(at+".apiKey") || !l.mayHave(known.variable, at+".baseUrl", f.BaseURL) {
		return
	}
	key, set := l.lookup(known.variable)
	if !set || key == "" {
		return
	}
	f.APIKey = NewSecret(key)
	o := Origin{Source: FromEnv, Name: known.variable}
	if !l.byOperator(known.variable) {
		o.Via = []string{envFileName}
	}
	l.origins[at+".apiKey"] = o
}
