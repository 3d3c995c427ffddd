package config

import (
	"net/url"
	"slices"

	"github.com/shipmyagent/shipmyagent/config/catalog"
)

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
