package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// fault is one wrong value. The message continues a sentence that begins with the key
// and never quotes the value.
type fault struct{ key, message string }

// faults checks all values against the table, and then their combinations. It uses neither files nor the network,
// except for the time zone data.
func (s *Settings) faults() []fault {
	c := &checker{}
	keyValue{value: settingsValue(s)}.walk(c.value)
	c.llm(s)
	c.accounts(s.Adapters.Telegram)
	c.credentials(s)
	if s.LLM.Provider == ProviderDemo {
		c.demo(s.Adapters)
	}
	c.listeners(s)
	c.budget(s)
	c.speech(s)
	if len(s.Permissions.Exec.Approvers) == 0 {
		c.fault("permissions.exec.approvers", `is empty, so nothing could ever be approved; "owner" is the usual entry`)
	}
	return c.faults
}

// checker collects faults.
type checker struct {
	faults   []fault
	patterns map[string]*regexp.Regexp
}

func (c *checker) fault(key, format string, args ...any) {
	c.faults = append(c.faults, fault{key, fmt.Sprintf(format, args...)})
}

// check reports a message about a key, unless it is empty.
func (c *checker) check(key, message string) {
	if message != "" {
		c.faults = append(c.faults, fault{key, message})
	}
}

// unset reports a key that must be set, if needed.
func (c *checker) unset(needed bool, key, message string) {
	if needed {
		c.check(key, "is not set"+message)
	}
}

// value checks one value against the table, and that secrets can be sent.
func (c *checker) value(k keyValue) bool {
	v := reflect.Indirect(k.value)
	if tags, ok := reflect.TypeAssert[Tags](k.value); ok {
		if i := slices.IndexFunc(tags, func(tag string) bool { return c.broken(k.field, tag) != "" }); i >= 0 {
			c.fault(k.key, "%s", c.broken(k.field, tags[i])) // One fault is enough, and the list may be a single word.
		}
		return false
	}
	secret, isSecret := reflect.TypeAssert[Secret](k.value)
	switch {
	case isSecret && !isExtra(k.key) && strings.ContainsFunc(secret.Reveal(), notInToken):
		c.fault(k.key, "has blanks or characters that no key or token has; check what was pasted")
	case isSecret:
		c.check(k.key, c.broken(k.field, secret.Reveal()))
	case v.Kind() == reflect.String:
		c.word(k, v.String())
	case v.CanInt():
		c.between(k, float64(v.Int()))
	case v.CanFloat():
		c.between(k, v.Float())
	case v.Kind() == reflect.Map:
		for _, name := range k.names() {
			c.check(joinKey(k.key, name), c.broken(k.field, name))
		}
	case v.Kind() == reflect.Slice && k.rule != "":
		for i := range v.Len() {
			c.check(fmt.Sprintf("%s[%d]", k.key, i), c.broken(k.field, v.Index(i).String()))
		}
	}
	return true
}

func (c *checker) word(k keyValue, word string) {
	if len(k.enum) == 0 && k.key != "description" && hasControl(word) {
		c.fault(k.key, "has a line break or another control character")
	}
	c.check(k.key, c.broken(k.field, word))
	if len(k.enum) == 0 || slices.Contains(k.enum, word) || (word == "" && k.optional) {
		return
	}
	hint := ""
	if near := Nearest(word, k.enum); near != "" && word != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	c.fault(k.key, "wants %s%s", oneOf(k.enum), hint)
}

func (c *checker) between(k keyValue, v float64) {
	plain := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	if k.min != nil && v < *k.min || k.max != nil && v > *k.max {
		c.fault(k.key, "wants a number from %s to %s", plain(*k.min), plain(*k.max))
	}
}

// isExtra reports whether a key is a header or query parameter of a model.
func isExtra(key string) bool {
	return strings.HasPrefix(key, "llm.") && (strings.Contains(key, ".headers.") || strings.Contains(key, ".query."))
}

func (c *checker) llm(s *Settings) {
	llm := s.LLM
	c.api("llm", Fallback{Provider: llm.Provider, BaseURL: llm.BaseURL, Model: llm.Model, APIKey: llm.APIKey, APIVersion: llm.APIVersion, Headers: llm.Headers, Query: llm.Query})
	for i, f := range llm.Fallbacks {
		c.api(fmt.Sprintf("llm.fallbacks[%d]", i), f)
	}
	if len(llm.Fallbacks) > 0 && llm.Provider == ProviderDemo {
		c.fault("llm.fallbacks", "stand in for a model, but there is only the demo model; set llm.model and its key")
	}
	const key = "context.memory.embeddingModel"
	known, name := providerOf(llm.Provider), s.Context.Memory.EmbeddingModel
	switch own := llm.BaseURL == "" || llm.BaseURL == known.baseURL; {
	case name == "":
	case strings.ContainsFunc(name, unicode.IsSpace):
		c.fault(key, "has blanks, which no name of a model has")
	case llm.Provider == ProviderDemo:
		c.fault(key, "needs a model's API, but there is only the demo model; set llm.model and its key, or leave it out")
	case own && known.noEmbeddings:
		c.fault(key, "is asked for at llm's address, and %s has no embeddings; leave it out", llm.Provider)
	}
}

// api checks that a model can be called, and the additional headers and parameters of its requests.
func (c *checker) api(block string, f Fallback) {
	known := providerOf(f.Provider)
	isKnown := known.name != "" || f.Provider == ProviderCustom
	if f.BaseURL != "" && f.Provider != ProviderDemo {
		c.check(block+".baseUrl", wrongBaseURL(f.BaseURL))
	}
	c.unset(isKnown && f.Model == "", block+".model", "; write the name of the model as its provider spells it")
	c.unset(isKnown && f.BaseURL == "" && known.baseURL == "", block+".baseUrl", `; provider "custom" needs it, such as "http://127.0.0.1:11434/v1"`)
	c.unset(known.needsKeyAt(f.BaseURL) && f.APIKey.IsZero(), block+".apiKey", "; "+keyHint(block, f.Provider))
	c.check(block+".apiVersion", unless(c.matches(`[A-Za-z0-9._-]*`, f.APIVersion), `wants a version such as "2024-10-21"`))
	own := []string{"content-type", "content-length", "host", "accept", "transfer-encoding", "connection", "accept-encoding"}
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		switch {
		case !c.isHeader(name, "") || hasControl(f.Headers[name].Reveal()):
			c.fault(block+".headers", "has %q, which is no header that can be sent", shorten(name))
		case slices.Contains(own, strings.ToLower(name)):
			c.fault(block+".headers", "has %q, which every request sets by itself; leave it out", shorten(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Query)) {
		if name == "" || hasControl(name) {
			c.fault(block+".query", "has a parameter without a usable name")
		}
	}
}

// keyHint says how a model's key is given.
func keyHint(block, provider string) string {
	switch variable := providerOf(provider).variable(); {
	case block != "llm":
		return `write "${NAME}" and set that variable in the environment or in ` + envFileName
	case variable != "":
		return "set " + variable + " in the environment or in " + envFileName
	}
	return "set " + EnvName("llm.apiKey") + " in the environment or in " + envFileName
}

// budget refuses limits in dollars that cannot be enforced because prices are missing.
func (c *checker) budget(s *Settings) {
	b := s.Budget
	if b.USDPerRun == 0 && b.USDPerChatPerDay == 0 && b.USDPerHostPerDay == 0 || s.LLM.Provider == ProviderDemo {
		return
	}
	models := []string{s.LLM.Model}
	for _, f := range s.LLM.Fallbacks {
		models = append(models, f.Model)
	}
	slices.Sort(models)
	for _, name := range slices.Compact(models) {
		if p := s.LLM.Models[name]; name != "" && (p.USDPerMInput == 0 || p.USDPerMOutput == 0) {
			c.fault("budget", "limits US dollars, but the prices of the model are not known; set usdPerMInput and usdPerMOutput in %s", joinKey("llm.models", shorten(name)))
		}
	}
}

// speech checks the models and programs for voice messages.
func (c *checker) speech(s *Settings) {
	for _, a := range s.Speech.apis() {
		switch {
		case a.model != "" && len(a.command) > 0:
			c.fault(a.block+".command", "is set together with %s.model; use one of the two", a.block)
		case len(a.command) > 0:
			c.voiceCommand(a)
		case a.model != "":
			c.voiceModel(a, s.LLM)
		}
	}
	if s.Speech.Transcribe.On() && s.Limits.FileMB == 0 {
		c.fault("speech.transcribe", "needs the files that people send; set limits.fileMB")
	}
}

func (c *checker) voiceModel(a voiceAPI, llm LLM) {
	url := *a.baseURL
	if strings.ContainsFunc(a.model, unicode.IsSpace) {
		c.fault(a.block+".model", "has blanks, which no name of a model has")
	}
	known := providerOf(llm.Provider)
	switch {
	case url == "":
		c.fault(a.block+".baseUrl", "is not set, and there is only the demo model; set it, or llm.model and its key")
	case llm.Provider != ProviderDemo && url == llm.BaseURL && url == known.baseURL && known.noSpeech:
		c.fault(a.block+".model", "is asked for at llm's address, and %s has no audio; set %s.baseUrl to an API that has", known.name, a.block)
	default:
		c.check(a.block+".baseUrl", wrongBaseURL(url))
		c.unset(url == providerOf(ProviderOpenAI).baseURL && a.key.IsZero(), a.block+".apiKey", `; write "${SPEECH_API_KEY}" and set that variable in the environment or in `+envFileName)
	}
}

func (c *checker) voiceCommand(a voiceAPI) {
	if strings.TrimSpace(a.command[0]) == "" || strings.HasPrefix(a.command[0], "{") {
		c.fault(a.block+".command[0]", "wants a program, such as \"whisper-cli\"")
	}
	for i, arg := range a.command {
		if strings.ContainsRune(arg, 0) {
			c.fault(fmt.Sprintf("%s.command[%d]", a.block, i), "has a NUL in it")
		}
	}
	for i, path := range a.read {
		if !filepath.IsAbs(path) || hasControl(path) {
			c.fault(fmt.Sprintf("%s.read[%d]", a.block, i), "wants a whole path, such as \"/opt/models\"")
		}
	}
	if *a.baseURL != "" || !a.key.IsZero() {
		c.fault(a.block+".command", "runs a program, which needs neither baseUrl nor apiKey; leave them out")
	}
}
