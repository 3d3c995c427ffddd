package catalog

import (
	"cmp"
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/config/packed"
)

//go:embed catalog.json.gz
var embedded []byte

// API is a protocol that models are called with.
type API string

// The protocols.
const (
	Chat      API = "chat"      // chat completions, as OpenAI defined them
	Responses API = "responses" // OpenAI's responses
	Messages  API = "messages"  // Anthropic's messages
)

// Local is the name for any server on this machine.
const Local = "local"

// Source says where the values of an entry are from.
type Source struct {
	Source string `json:"source"` // the address of a page
	AsOf   string `json:"asOf"`   // the day to which the values are known to hold, as 2006-01-02
}

// Provider is a service that has a name.
type Provider struct {
	Name    string `json:"name"`
	BaseURL string `json:"baseUrl"`
	API     API    `json:"api"` // of its models, unless an entry says otherwise
	// Model is the default model. If it is empty, a model must be set.
	Model string `json:"model,omitempty"`
	// Variables are the well-known variables for its key, of which the first that is set counts. A provider without any
	// is a server on this machine and needs no key.
	Variables []string `json:"variables,omitempty"`
	// Hosts are further hosts of the same service, for example in another region.
	Hosts []string `json:"hosts,omitempty"`
	// ByKey says that the provider is chosen if its variable is set and nothing else selects a provider.
	ByKey        bool `json:"byKey,omitempty"`
	NoEmbeddings bool `json:"noEmbeddings,omitempty"`
	NoSpeech     bool `json:"noSpeech,omitempty"`
	Source
}

// Cache says which input a service reads from its cache at the price for cached tokens.
type Cache string

// The kinds of caches.
const (
	CacheAutomatic Cache = "automatic" // whatever the service has seen lately
	CacheExplicit  Cache = "explicit"  // only what a request marks
)

// Model is what is known of one model, or of all models whose names begin alike. Zero and nil mean unknown.
type Model struct {
	Name            string `json:"name"`               // exact, or a prefix that ends in *
	Provider        string `json:"provider,omitempty"` // whose protocol and prices these are; empty: of none
	API             API    `json:"api,omitempty"`      // replaces the provider's
	ContextWindow   int    `json:"contextWindow,omitempty"`
	MaxOutputTokens int    `json:"maxOutputTokens,omitempty"`
	Images          *bool  `json:"images,omitempty"` // takes pictures
	Files           *bool  `json:"files,omitempty"`  // takes PDF documents
	Tools           *bool  `json:"tools,omitempty"`
	// Thinking is nil if the model does not think, or if that is unknown.
	Thinking *Thinking `json:"thinking,omitempty"`
	Cache    Cache     `json:"cache,omitempty"`
	// USD are the prices of a million tokens, or nil.
	USD  *Prices `json:"usdPerMillion,omitempty"`
	Note string  `json:"note,omitempty"` // for people
	Source
}

// Protocol is the protocol that a model is called with at the service of its entry, or "" if the entry is of none.
func (m Model) Protocol() API {
	if m.API != "" {
		return m.API
	}
	p, _ := ProviderOf(m.Provider)
	return p.API
}

// Thinking says how the thinking of a model is controlled.
type Thinking struct {
	Efforts []string `json:"efforts,omitempty"` // the words that it takes, least first
	Default string   `json:"default,omitempty"` // the effort without a word
	Budget  *Range   `json:"budget,omitempty"`  // in tokens; nil if it takes none
	Always  bool     `json:"always,omitempty"`  // cannot be turned off
	// Switch says that it is turned off by the field thinking, in chat completions.
	Switch bool `json:"switch,omitempty"`
}

// Range is a range of numbers. A Max of 0 means that no end is known.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max,omitempty"`
}

// Prices are US dollars of a million tokens. What has no price of its own costs as much as Input.
type Prices struct {
	Input      float64 `json:"input"`
	Cached     float64 `json:"cached,omitempty"`     // input that was read from the service's cache
	CacheWrite float64 `json:"cacheWrite,omitempty"` // input that was written to it, for the shortest time it is kept
	Output     float64 `json:"output,omitempty"`     // thinking included
	// Over replaces the prices of a request with more input than a number of tokens.
	Over *Tier `json:"over,omitempty"`
}

// Tier are the prices of a request with more input than Tokens.
type Tier struct {
	Tokens     int     `json:"tokens"`
	Input      float64 `json:"input"`
	Cached     float64 `json:"cached,omitempty"`
	CacheWrite float64 `json:"cacheWrite,omitempty"`
	Output     float64 `json:"output,omitempty"`
}

// Cost is what a request costs, in billionths of a US dollar. What was read from the cache and written to it are parts
// of the input.
func (p Prices) Cost(input, cached, written, output int64) int64 {
	if o := p.Over; o != nil && input > int64(o.Tokens) {
		p = Prices{Input: o.Input, Cached: o.Cached, CacheWrite: o.CacheWrite, Output: o.Output}
	}
	sum := p.Input * float64(max(0, input-cached-written))
	for _, part := range []struct {
		tokens int64
		price  float64
	}{{cached, p.Cached}, {written, p.CacheWrite}, {output, p.Output}} {
		sum += float64(part.tokens) * cmp.Or(part.price, p.Input)
	}
	const nanoPerToken = 1e9 / 1e6
	return int64(math.Ceil(math.Round(sum*nanoPerToken*1e3) / 1e3)) // without the dust of fractions
}

type document struct {
	Providers []Provider `json:"providers"`
	Models    []Model    `json:"models"`
}

// read parses the document once.
var read = sync.OnceValue(func() document { //nolint:gochecknoglobals // constant
	var d document
	_ = packed.Read(embedded, &d) // the tests read it strictly
	return d
})

// Providers are the services in the order in which they are shown and chosen.
func Providers() []Provider { return read().Providers }

// Models are the entries of all models.
func Models() []Model { return read().Models }

// ProviderOf returns the entry of a service.
func ProviderOf(name string) (Provider, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{}, false
}

// Find returns what is known of a model at a service: its entry, without what holds at another service only. provider is
// the name of a service at its own address, [Local], or empty for an unknown service.
func Find(provider, name string) (Model, bool) {
	names := spellings(name)
	var found Model
	var best match
	for _, m := range Models() {
		if at := m.matches(provider, names); at.compare(best) > 0 {
			found, best = m, at
		}
	}
	if best == (match{}) {
		return Model{}, false
	}
	if found.Provider != "" && found.Provider != provider {
		found.API, found.USD, found.Cache, found.Note = "", nil, "", ""
		if t := found.Thinking; t != nil && t.Switch {
			own := *t
			own.Switch, found.Thinking = false, &own
		}
	}
	if isLocal(provider) {
		found.ContextWindow, found.MaxOutputTokens = 0, 0
	}
	return found, true
}

// isLocal reports whether a service runs on this machine.
func isLocal(provider string) bool {
	p, known := ProviderOf(provider)
	return provider == Local || known && len(p.Variables) == 0
}

// match says how well an entry fits; the zero value does not.
type match struct {
	exact  int // the higher, the less was taken off the name; 0 for a prefix
	prefix int // its length
	own    int // 3: of the service, 2: of none, 1: of another
}

func (a match) compare(b match) int {
	return cmp.Or(cmp.Compare(a.exact, b.exact), cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.own, b.own))
}

func (m Model) matches(provider string, names []string) match {
	at := match{own: 1}
	switch {
	case m.Provider != "" && m.Provider == provider:
		at.own = 3
	case m.Provider == "":
		at.own = 2
	case strings.Contains(m.Name, "/"):
		return match{}
	}
	if prefix, ok := strings.CutSuffix(m.Name, "*"); ok {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			at.prefix = len(prefix)
			return at
		}
		return match{}
	}
	i := slices.IndexFunc(names, func(name string) bool { return name == m.Name || strings.ReplaceAll(name, ".", "-") == m.Name })
	if i < 0 {
		return match{}
	}
	at.exact = len(names) - i
	return at
}

// ending is what is at the end of names of one version of a model.
var ending = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // constant
	return regexp.MustCompile(`-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$`)
})

// spellings are the names under which a model is looked up, the one with the least taken off first.
func spellings(name string) []string {
	names := []string{strings.ToLower(strings.TrimSpace(name))}
	for _, shorten := range []func(string) string{
		func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] },
		func(s string) string {
			if i := strings.LastIndexAny(s, ":@"); i > 0 {
				return s[:i]
			}
			return s
		},
		func(s string) string { return ending().ReplaceAllString(s, "") },
	} {
		for _, s := range names {
			if short := shorten(s); !slices.Contains(names, short) {
				names = append(names, short)
			}
		}
	}
	return names
}
