package config

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// resolve fills in values that follow from the keys that are set, and then reports the missing variables of keys that
// are in use.
func (l *loader) resolve() {
	l.resolveModel()
	l.resolveFallbacks()
	l.resolveCatalog()
	l.resolveSpeech()
	l.resolveAdapters()
	l.resolveEgress()
	l.ReportMissing(l.inUse)
}

// follow records that a key follows from another.
func (l *loader) follow(key, from string) {
	l.Origins.Replace(key, Origin{Source: FromKey, Name: from})
}

// follows gives an unset key a value that follows from another key, if there is one, and records it. A key that
// ship.json sets to a missing variable does not follow from another.
func follows[T any](l *loader, p *T, value T, key, from string) {
	v, source := reflect.ValueOf(p).Elem(), reflect.ValueOf(value)
	if v.IsZero() && !source.IsZero() && l.Missing(key) == "" {
		v.Set(source)
		l.follow(key, from)
	}
}

// wellKnown reads a variable that is used automatically for an unset key of a service. If there is an address key, the
// variable is a secret: the operator's is sent only to the service's own address, to an address that the operator sets,
// or to this machine. For other addresses, ship.json must name the variable.
func (l *loader) wellKnown(key, name, addressKey, address string) {
	k, _ := l.Table.At(key)
	text, _ := l.Env(name)
	switch {
	case !l.Origins.Untouched(key):
	case text != "" && addressKey != "" && !l.mayHave(name, addressKey, address):
		l.Report(Warn, l.Position(addressKey), addressKey,
			fmt.Sprintf("%s is not given to this address, which is not that of the service it belongs to; write \"${%s}\" as %s if it should be", name, name, key))
	default:
		l.readVariable(k, name)
	}
}

// resolveModel completes the provider, base URL, key and model.
func (l *loader) resolveModel() {
	llm := &l.settings.LLM
	chosen := !l.Origins.Untouched("llm.provider")
	if !chosen || llm.Provider == ProviderOpenAI || llm.Provider == ProviderCustom {
		l.wellKnown("llm.baseUrl", "OPENAI_BASE_URL", "", "")
		l.wellKnown("llm.apiKey", "OPENAI_API_KEY", "llm.baseUrl", cmp.Or(llm.BaseURL, providerOf(ProviderOpenAI).BaseURL))
	}
	if !chosen {
		chosen = l.chooseByKey()
	}
	if known := providerOf(llm.Provider); chosen && llm.Provider != ProviderOpenAI {
		for _, name := range known.Variables {
			l.wellKnown("llm.apiKey", name, "llm.baseUrl", cmp.Or(llm.BaseURL, known.BaseURL))
		}
	}
	for _, key := range []string{"llm.apiKey", "llm.baseUrl", "llm.model"} {
		if !chosen && !l.Origins.Untouched(key) {
			chosen = true
			llm.Provider = ProviderOpenAI
			l.follow("llm.provider", key)
		}
	}
	known := providerOf(llm.Provider)
	follows(l, &llm.BaseURL, known.BaseURL, "llm.baseUrl", "llm.provider")
	follows(l, &llm.Model, known.Model, "llm.model", "llm.provider")
}

// chooseByKey chooses the provider whose well-known variable is set, if nothing else selects a provider. It chooses
// none if the settings have a base URL or a key, and none without a default model unless a model is set.
func (l *loader) chooseByKey() bool {
	llm := &l.settings.LLM
	for _, key := range []string{"llm.apiKey", "llm.baseUrl"} {
		if !l.Origins.Untouched(key) || l.Missing(key) != "" {
			return false
		}
	}
	for _, p := range catalog.Providers() {
		known := provider{p}
		if !known.ByKey || known.Model == "" && llm.Model == "" {
			continue
		}
		if key, _ := l.Lookup(known.variable()); key != "" {
			llm.Provider = known.Name
			l.follow("llm.provider", known.variable())
			return true
		}
	}
	return false
}

// firstByteWithFallbacks is the default of llm.firstByteS if there are fallbacks.
const firstByteWithFallbacks = 15

// resolveFallbacks completes fallbacks from their provider and the main model.
func (l *loader) resolveFallbacks() {
	main := &l.settings.LLM
	if len(main.Fallbacks) > 0 && l.Origins.Untouched("llm.firstByteS") {
		main.FirstByteS = firstByteWithFallbacks
		l.follow("llm.firstByteS", "llm.fallbacks")
	}
	for at, f := range main.others() {
		if main.Provider != ProviderDemo {
			follows(l, &f.Provider, main.Provider, at+"provider", "llm.provider")
		}
		if f.Provider == main.Provider {
			follows(l, &f.BaseURL, main.BaseURL, at+"baseUrl", "llm.baseUrl")
		} else {
			follows(l, &f.BaseURL, providerOf(f.Provider).BaseURL, at+"baseUrl", at+"provider")
		}
		if f.BaseURL == main.BaseURL {
			follows(l, &f.APIKey, main.APIKey, at+"apiKey", "llm.apiKey")
			follows(l, &f.API, main.API, at+"api", "llm.api")
			follows(l, &f.Organization, main.Organization, at+"organization", "llm.organization")
			follows(l, &f.APIVersion, main.APIVersion, at+"apiVersion", "llm.apiVersion")
			follows(l, &f.Headers, main.Headers, at+"headers", "llm.headers")
			follows(l, &f.Query, main.Query, at+"query", "llm.query")
		}
		l.keyOfFallback(f, at)
	}
}

// others are the fallbacks and the choices, with the beginnings of their keys.
func (l *LLM) others() iter.Seq2[string, *Fallback] {
	return func(yield func(string, *Fallback) bool) {
		for _, list := range []struct {
			name string
			of   []Fallback
		}{{"fallbacks", l.Fallbacks}, {"choices", l.Choices}} {
			for i := range list.of {
				if !yield(fmt.Sprintf("llm.%s[%d].", list.name, i), &list.of[i]) {
					return
				}
			}
		}
	}
}

// keyOfFallback gives a fallback the first well-known variable of its provider that is set, but only at the service's
// own addresses.
func (l *loader) keyOfFallback(f *Fallback, at string) {
	for _, name := range providerOf(f.Provider).Variables {
		if key, _ := l.Lookup(name); f.APIKey.IsZero() && l.Missing(at+"apiKey") == "" && key != "" && l.mayHave(name, at+"baseUrl", f.BaseURL) {
			f.APIKey = NewSecret(key)
			l.Origins[at+"apiKey"] = l.FromVariable(name)
		}
	}
}

// resolveSpeech completes the address and key of a model from those of llm. A key is used only at its own address.
func (l *loader) resolveSpeech() {
	llm := l.settings.LLM
	for _, a := range l.settings.Speech.apis() {
		if a.model == "" || llm.Provider == ProviderDemo {
			continue
		}
		follows(l, a.baseURL, llm.BaseURL, a.block+".baseUrl", "llm.baseUrl")
		if *a.baseURL == llm.BaseURL {
			follows(l, a.key, llm.APIKey, a.block+".apiKey", "llm.apiKey")
		}
	}
}

// resolveAdapters enables the platforms whose credentials are set.
func (l *loader) resolveAdapters() {
	a := &l.settings.Adapters
	for _, p := range a.platforms() {
		if p.variable != "" {
			l.wellKnown(p.key(p.credentials[0].name), p.variable, p.key("baseUrl"), p.address)
		}
	}
	for _, p := range a.platforms() { // again, with the credentials that were just read
		if len(p.credentials) > 0 && l.Origins.Untouched(p.key("enabled")) {
			l.switchOn(p)
		}
	}
}

// switchOn enables a platform that has all its credentials. It warns if only some of them are set.
func (l *loader) switchOn(p platform) {
	var touched, absent string // the first of each
	for _, c := range p.credentials {
		key := p.key(c.name)
		if !l.Origins.Untouched(key) {
			touched = cmp.Or(touched, key)
		}
		if !c.set {
			absent = cmp.Or(absent, key)
		}
	}
	switch {
	case absent == "":
		*p.enabled = true
		l.follow(p.key("enabled"), p.key(p.credentials[0].name))
	case touched != "":
		what := ""
		if missing := l.Missing(absent); missing != "" {
			what = " (" + missing + ")"
		}
		l.Report(Warn, l.Position(touched), p.key("enabled"), fmt.Sprintf("adapters.%s stays off: %s is not set%s", p.name, absent, what))
	}
}

// resolveEgress applies context.chatEgress.mode to the platforms without their own setting.
func (l *loader) resolveEgress() {
	mode := l.settings.Context.ChatEgress.Mode
	for _, p := range l.settings.Adapters.platforms() {
		if key := p.key("egress"); (mode == EgressTool || mode == EgressDirect) && l.Origins.Untouched(key) {
			*p.egress = mode
			l.follow(key, "context.chatEgress.mode")
		}
	}
}

// inUse reports whether a key matters. Keys of a disabled adapter do not, nor does access to a model while the demo
// model is chosen.
func (l *loader) inUse(key string) bool {
	s := &l.settings
	switch {
	case strings.HasPrefix(key, "llm."):
		return s.LLM.Provider != ProviderDemo
	case strings.HasPrefix(key, "speech.transcribe."):
		return s.Speech.Transcribe.On()
	case strings.HasPrefix(key, "speech.speak."):
		return s.Speech.Speak.On()
	case strings.HasPrefix(key, "adapters.web.") && s.Adapters.API.Enabled: // The API listens where the pages do.
		return true
	}
	for _, p := range s.Adapters.platforms() {
		if strings.HasPrefix(key, p.key("")) {
			return *p.enabled
		}
	}
	return true
}
