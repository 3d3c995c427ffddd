package config

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/shipmyagent/shipmyagent/config/catalog"
	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// Main is the main model, in the form of a fallback.
func (l LLM) Main() Fallback {
	return Fallback{
		Provider: l.Provider, API: l.API, Model: l.Model, BaseURL: l.BaseURL, APIKey: l.APIKey,
		Organization: l.Organization, APIVersion: l.APIVersion, Headers: l.Headers, Query: l.Query,
	}
}

// Protocol is the protocol that a model is called with: the one that is set, else that of its provider and model, else
// chat completions.
func (f Fallback) Protocol() catalog.API {
	if f.API != "" {
		return catalog.API(f.API)
	}
	if f.APIVersion != "" { // an Azure resource
		return catalog.Chat
	}
	known, _ := f.Known()
	return cmp.Or(known.API, providerOf(f.Provider).API, catalog.Chat)
}

// Known is what the catalog knows of a model at its address, whatever the settings say.
func (f Fallback) Known() (catalog.Model, bool) { return catalog.Find(f.service(), f.Model) }

// service is the service at an address, as the catalog names it.
func (f Fallback) service() string {
	p := providerOf(f.Provider)
	switch {
	case f.APIVersion != "": // an Azure resource
	case p.Name != "" && len(p.Variables) == 0, isLoopback(f.BaseURL):
		return catalog.Local
	case p.isAt(f.BaseURL):
		return p.Name
	}
	return ""
}

// Prices are the prices of a model, and whether llm.models has them; otherwise they are the catalog's. They are nil if
// nobody knows them.
func (l LLM) Prices(f Fallback) (p *catalog.Prices, set bool) {
	if own := l.Models[f.Model]; own.USDPerMInput > 0 && own.USDPerMOutput > 0 {
		return &catalog.Prices{Input: own.USDPerMInput, Cached: own.USDPerMCached, Output: own.USDPerMOutput}, true
	}
	known, _ := f.Known()
	return known.USD, false
}

// EmbeddingPrices are the prices of an embedding model, as [LLM.Prices]. It has no output to pay for.
func (l LLM) EmbeddingPrices(name string) (p *catalog.Prices, set bool) {
	if input := l.Models[name].USDPerMInput; input > 0 {
		return &catalog.Prices{Input: input}, true
	}
	f := l.Main()
	f.Model = name
	return l.Prices(f)
}

// resolveCatalog completes what the settings leave out about their models and the catalog knows.
func (l *loader) resolveCatalog() {
	llm := &l.settings.LLM
	if llm.Provider == ProviderDemo {
		return
	}
	l.resolveProtocol(&llm.API, llm.Main(), "llm.")
	for at, f := range llm.others() {
		l.resolveProtocol(&f.API, *f, at)
	}
	_, all := l.settings.endpoints()
	for _, f := range all {
		l.completeModel(f)
	}
}

func (l *loader) resolveProtocol(p *string, f Fallback, at string) {
	from := at + "provider"
	if known, _ := f.Known(); known.API != "" && f.APIVersion == "" {
		from = at + "model"
	}
	follows(l, p, string(f.Protocol()), at+"api", from)
}

// completeModel completes the settings of one model. The longest answer is needed where requests must state it; elsewhere
// it is left to the model, as services reserve what a request states.
func (l *loader) completeModel(f Fallback) {
	known, ok := f.Known()
	if !ok {
		return
	}
	llm := &l.settings.LLM
	own := llm.Models[f.Model]
	block := keys.Join("llm.models", f.Model)
	changed := false
	set := func(name string, wanted bool) bool {
		key := keys.Join(block, name)
		if wanted = wanted && l.Missing(key) == ""; wanted {
			l.Origins[key] = Origin{Source: FromCatalog, Name: known.Name}
			changed = true
		}
		return wanted
	}
	if set("contextWindow", own.ContextWindow == 0 && llm.ContextWindow == 0 && known.ContextWindow > 0) {
		own.ContextWindow = known.ContextWindow
	}
	if set("maxOutputTokens", own.MaxOutputTokens == 0 && llm.MaxOutputTokens == 0 && known.MaxOutputTokens > 0 && f.Protocol() == catalog.Messages) {
		own.MaxOutputTokens = known.MaxOutputTokens
	}
	if set("tools", own.Tools == nil && l.Origins.Untouched("llm.tools") && known.Tools != nil && !*known.Tools) {
		own.Tools = known.Tools
	}
	if set("images", own.Images == nil && known.Images != nil) {
		own.Images = known.Images
	}
	if set("files", own.Files == nil && known.Files != nil) {
		own.Files = known.Files
	}
	if changed && llm.Models == nil {
		llm.Models = map[string]ModelSettings{}
	}
	if changed {
		llm.Models[f.Model] = own
	}
}

// CheaperModel is the model that is asked when a limit keeps others from being asked, or empty.
func (s *Settings) CheaperModel() string {
	for _, f := range s.LLM.Choices {
		if s.Budget.AtLimit == AtLimitCheaper && f.Name == s.Budget.Cheaper {
			return f.Model
		}
	}
	return ""
}

// InDollars reports whether a limit is in US dollars.
func (b Budget) InDollars() bool {
	return b.USDPerRun > 0 || b.USDPerPersonPerHour > 0 || b.USDPerPersonPerDay > 0 || b.USDPerPersonPerMonth > 0 ||
		b.USDPerChatPerHour > 0 || b.USDPerChatPerDay > 0 || b.USDPerChatPerMonth > 0 ||
		b.USDPerHostPerHour > 0 || b.USDPerHostPerDay > 0 || b.USDPerHostPerMonth > 0
}

// provider is the catalog's entry of a service; it is empty for custom and demo.
type provider struct{ catalog.Provider }

func providerOf(name string) provider {
	known, _ := catalog.ProviderOf(name)
	return provider{known}
}

// variable is the well-known variable to name in messages, or "".
func (p provider) variable() string {
	if len(p.Variables) == 0 {
		return ""
	}
	return p.Variables[0]
}

func (p provider) ownHosts() []string {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Host == "" {
		return nil
	}
	return append([]string{u.Host}, p.Hosts...)
}

// isAt reports whether an address is the service's own.
func (p provider) isAt(address string) bool {
	return address == "" || address == p.BaseURL || isOwn(address, p.ownHosts()...)
}

// needsKeyAt reports whether an address is the service's own and so needs a key.
func (p provider) needsKeyAt(address string) bool { return len(p.Variables) > 0 && p.isAt(address) }

// wellKnownHosts are the hosts of the service that a well-known variable belongs to.
func wellKnownHosts(name string) []string {
	for _, p := range (&Adapters{}).platforms() {
		if p.variable == name {
			return p.hosts
		}
	}
	for _, p := range catalog.Providers() {
		if slices.Contains(p.Variables, name) {
			return provider{p}.ownHosts()
		}
	}
	return nil
}
