package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// resolve fills in values that follow from the keys that are set, and then reports the missing variables of keys that
// are in use.
func (l *loader) resolve() {
	l.resolveModel()
	l.resolveFallbacks()
	l.resolveSpeech()
	l.resolveAdapters()
	l.resolveEgress()
	for _, key := range slices.Sorted(maps.Keys(l.missing)) {
		if m := l.missing[key]; l.isMissing(key) && l.inUse(key) {
			l.report(Error, m.origin, key, key+": "+strings.Join(m.what, ", and ")+emptyForm(m))
		}
	}
}

// emptyForm says how to allow a single missing variable.
func emptyForm(m missingValue) string {
	if len(m.origin.Via) != 1 || strings.HasPrefix(m.origin.Via[0], "${file:") {
		return ""
	}
	name := strings.TrimSuffix(strings.TrimPrefix(m.origin.Via[0], "${"), "}")
	return "; set it in the environment or in " + envFileName + ", or write ${" + name + ":-} if it may be empty"
}

// follow records that a key follows from another.
func (l *loader) follow(key, from string) {
	l.origins.replace(key, Origin{Source: FromKey, Name: from})
}

// follows reports whether an unset key follows from another, and records it. A key that ship.json sets to a missing
// variable does not follow from another.
func (l *loader) follows(unset bool, key, from string) bool {
	if unset = unset && !l.isMissing(key); unset {
		l.follow(key, from)
	}
	return unset
}

// wellKnown reads a variable that is used automatically for an unset key.
func (l *loader) wellKnown(key, name string) {
	if !l.origins.untouched(key) {
		return
	}
	if k, ok := keyAt(reflect.ValueOf(&l.settings).Elem(), key); ok {
		l.readVariable(k, name)
	}
}

// wellKnownSecret is wellKnown for a secret that belongs to a service. The operator's variable is sent only to the
// service's own address, to an address that the operator sets, or to this machine. For other addresses, ship.json
// must name the variable.
func (l *loader) wellKnownSecret(key, name, addressKey, address string) {
	text, set := l.Env(name)
	switch {
	case set && text != "" && l.origins.untouched(key) && !l.mayHave(name, addressKey, address):
		l.report(Warn, l.place(addressKey), addressKey,
			fmt.Sprintf("%s is not given to this address, which is not that of the service it belongs to; write \"${%s}\" as %s if it should be", name, name, key))
	default:
		l.wellKnown(key, name)
	}
}

// resolveModel completes the provider, base URL, key and model.
func (l *loader) resolveModel() {
	llm := &l.settings.LLM
	chosen := !l.origins.untouched("llm.provider")
	if !chosen || llm.Provider == ProviderOpenAI || llm.Provider == ProviderCustom {
		l.wellKnown("llm.baseUrl", "OPENAI_BASE_URL")
		l.wellKnownSecret("llm.apiKey", "OPENAI_API_KEY", "llm.baseUrl", cmp.Or(llm.BaseURL, providerOf(ProviderOpenAI).baseURL))
	}
	if !chosen {
		chosen = l.chooseByKey()
	}
	if known := providerOf(llm.Provider); chosen && llm.Provider != ProviderOpenAI {
		for _, name := range known.variables {
			l.wellKnownSecret("llm.apiKey", name, "llm.baseUrl", cmp.Or(llm.BaseURL, known.baseURL))
		}
	}
	for _, key := range []string{"llm.apiKey", "llm.baseUrl", "llm.model"} {
		if !chosen && !l.origins.untouched(key) {
			chosen = true
			llm.Provider = ProviderOpenAI
			l.follow("llm.provider", key)
		}
	}
	known := providerOf(llm.Provider)
	if l.follows(llm.BaseURL == "" && known.baseURL != "", "llm.baseUrl", "llm.provider") {
		llm.BaseURL = known.baseURL
	}
	if l.follows(llm.Model == "" && known.model != "", "llm.model", "llm.provider") {
		llm.Model = known.model
	}
}

// isMissing reports whether ship.json sets a key to a missing variable or file.
func (l *loader) isMissing(key string) bool {
	_, missing := l.missing[key]
	return missing && l.origins[key].Source == FromFile
}

// firstByteWithFallbacks is the default of llm.firstByteS if there are fallbacks.
const firstByteWithFallbacks = 15

// resolveFallbacks completes fallbacks from their provider and the main model.
func (l *loader) resolveFallbacks() {
	main := l.settings.LLM
	if len(main.Fallbacks) > 0 && l.origins.untouched("llm.firstByteS") {
		l.settings.LLM.FirstByteS = firstByteWithFallbacks
		l.follow("llm.firstByteS", "llm.fallbacks")
	}
	for i := range main.Fallbacks {
		f := &main.Fallbacks[i]
		at := fmt.Sprintf("llm.fallbacks[%d]", i)
		if l.follows(f.Provider == "" && main.Provider != ProviderDemo, at+".provider", "llm.provider") {
			f.Provider = main.Provider
		}
		address, from := main.BaseURL, "llm.baseUrl"
		if f.Provider != main.Provider {
			address, from = providerOf(f.Provider).baseURL, at+".provider"
		}
		if l.follows(f.BaseURL == "", at+".baseUrl", from) {
			f.BaseURL = address
		}
		same := f.BaseURL == main.BaseURL
		if l.follows(same && f.APIKey.IsZero(), at+".apiKey", "llm.apiKey") {
			f.APIKey = main.APIKey
		}
		l.fallbackKey(f, at)
		if l.follows(same && main.Organization != "" && f.Organization == "", at+".organization", "llm.organization") {
			f.Organization = main.Organization
		}
		if l.follows(same && main.APIVersion != "" && f.APIVersion == "", at+".apiVersion", "llm.apiVersion") {
			f.APIVersion = main.APIVersion
		}
		if l.follows(same && main.Headers != nil && f.Headers == nil, at+".headers", "llm.headers") {
			f.Headers = main.Headers
		}
		if l.follows(same && main.Query != nil && f.Query == nil, at+".query", "llm.query") {
			f.Query = main.Query
		}
	}
}

func (l *loader) whatIsMissing(key string) string {
	if !l.isMissing(key) {
		return ""
	}
	return " (" + strings.Join(l.missing[key].what, ", and ") + ")"
}
