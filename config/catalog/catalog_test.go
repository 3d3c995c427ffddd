package catalog

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/config/packed/packedtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var update = flag.Bool("update", false, "pack the catalog anew")

// TestCatalogIsValid reads the file strictly and checks every entry.
func TestCatalogIsValid(t *testing.T) {
	text := stdtest.Read(t, "catalog.json")
	packedtest.Check(t, "catalog.json.gz", text, *update)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var d document
	if err := dec.Decode(&d); err != nil || len(d.Providers) == 0 || len(d.Models) == 0 {
		t.Fatalf("%d providers, %d models, %v", len(d.Providers), len(d.Models), err)
	}
	names := map[string]bool{}
	for _, p := range d.Providers {
		wrongProvider(t, p)
		if names[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		names[p.Name] = true
	}
	seen := map[string]bool{}
	for _, m := range d.Models {
		at := m.Provider + " " + m.Name
		if seen[at] {
			t.Errorf("%s is there twice", at)
		}
		seen[at] = true
		if m.Provider != "" && !names[m.Provider] {
			t.Errorf("%s: there is no such provider", at)
		}
		wrongModel(t, at, m)
	}
}

func wrongSource(t *testing.T, at string, s Source) {
	t.Helper()
	u, err := url.Parse(s.Source)
	if _, fault := time.Parse(time.DateOnly, s.AsOf); fault != nil || err != nil || u.Scheme != "https" || u.Host == "" {
		t.Errorf("%s: source %q of %q", at, s.Source, s.AsOf)
	}
}

func wrongProvider(t *testing.T, p Provider) {
	t.Helper()
	wrongSource(t, p.Name, p.Source)
	u, err := url.Parse(p.BaseURL)
	if err != nil || (u.Scheme == "https") != (len(p.Variables) > 0) || u.Host == "" || strings.HasSuffix(p.BaseURL, "/") {
		t.Errorf("%s has the address %q and the variables %q", p.Name, p.BaseURL, p.Variables)
	}
	if !slices.Contains([]API{Chat, Responses, Messages}, p.API) {
		t.Errorf("%s has the protocol %q", p.Name, p.API)
	}
	if p.ByKey && len(p.Variables) == 0 {
		t.Errorf("%s is chosen by a key and has none", p.Name)
	}
	if _, known := Find(p.Name, p.Model); p.Model != "" && !known {
		t.Errorf("%s: the default model %s has no entry", p.Name, p.Model)
	}
}

func wrongModel(t *testing.T, at string, m Model) {
	t.Helper()
	wrongSource(t, at, m.Source)
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9./-]*\*?$`).MatchString(m.Name) {
		t.Errorf("%s is no name or prefix in small letters", at)
	}
	if !slices.Contains([]API{"", Chat, Responses, Messages}, m.API) || !slices.Contains([]Cache{"", CacheAutomatic, CacheExplicit}, m.Cache) {
		t.Errorf("%s has the words %q, %q", at, m.API, m.Cache)
	}
	if m.Provider == "" && (m.API != "" || m.USD != nil || m.Cache != "" || strings.Contains(m.Name, "/")) {
		t.Errorf("%s has what only a service has", at)
	}
	if m.ContextWindow < 0 || m.MaxOutputTokens < 0 || m.ContextWindow > 0 && m.MaxOutputTokens > m.ContextWindow {
		t.Errorf("%s has a window of %d and answers of %d", at, m.ContextWindow, m.MaxOutputTokens)
	}
	if m.Files != nil && *m.Files && (m.Images == nil || !*m.Images) {
		t.Errorf("%s reads documents and sees no pictures", at)
	}
	if th := m.Thinking; th != nil {
		known := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
		places := make([]int, len(th.Efforts))
		for i, e := range th.Efforts {
			places[i] = slices.Index(known, e)
		}
		if slices.Contains(places, -1) || !slices.IsSorted(places) || th.Default != "" && !slices.Contains(th.Efforts, th.Default) {
			t.Errorf("%s thinks with %v, by default %q", at, th.Efforts, th.Default)
		}
		if th.Always && slices.Contains(th.Efforts, "none") || th.Budget != nil && th.Budget.Max > 0 && th.Budget.Max < th.Budget.Min {
			t.Errorf("%s: %+v contradicts itself", at, th)
		}
	}
	if u := m.USD; u != nil {
		wrongPrices(t, at, m.Cache, *u)
		if o := u.Over; o != nil {
			if o.Tokens <= 0 || o.Tokens >= m.ContextWindow && m.ContextWindow > 0 || o.Input < u.Input || o.Output < u.Output {
				t.Errorf("%s: prices over %d tokens are %+v", at, o.Tokens, *o)
			}
			wrongPrices(t, at, m.Cache, Prices{Input: o.Input, Cached: o.Cached, CacheWrite: o.CacheWrite, Output: o.Output})
		}
	} else if m.Cache == CacheAutomatic {
		t.Errorf("%s has a cache without a price", at)
	}
}

func wrongPrices(t *testing.T, at string, cache Cache, u Prices) {
	t.Helper()
	if u.Input <= 0 || u.Cached < 0 || u.Cached > u.Input || u.CacheWrite < 0 || u.Output < 0 || u.Input > 1000 || u.Output > 1000 {
		t.Errorf("%s has the prices %+v", at, u)
	}
	if u.CacheWrite > 0 && u.CacheWrite < u.Input || (u.Cached > 0) != (cache != "") {
		t.Errorf("%s has the cache %q and the prices %+v", at, cache, u)
	}
}

func TestCost(t *testing.T) {
	plain := Prices{Input: 3, Cached: 0.3, CacheWrite: 3.75, Output: 15}
	tiered := plain
	tiered.Over = &Tier{Tokens: 1000, Input: 6, Output: 30}
	for _, tt := range []struct {
		name                           string
		p                              Prices
		input, cached, written, output int64
		want                           int64
	}{
		{"nothing", plain, 0, 0, 0, 0, 0},
		{"all kinds", plain, 1000, 500, 100, 10, 400*3000 + 500*300 + 100*3750 + 10*15000},
		{"what has no price costs as much as input", Prices{Input: 2}, 10, 5, 3, 1, 11 * 2000},
		{"fractions are rounded up", Prices{Input: 0.0028}, 1, 0, 0, 0, 3},
		{"whole results are not", Prices{Input: 0.1, Output: 0.3}, 7, 0, 0, 3, 1600},
		{"not over", tiered, 1000, 0, 0, 1, 3_015_000},
		{"over", tiered, 1001, 1, 0, 1, 1001*6000 + 30000},
		{"more from the cache than was sent", plain, 10, 20, 0, 0, 6000},
	} {
		if got := tt.p.Cost(tt.input, tt.cached, tt.written, tt.output); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
