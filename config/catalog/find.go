package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

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
