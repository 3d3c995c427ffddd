package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// Effective is one key with its value and origin.
type Effective struct {
	Key    string
	Value  json.RawMessage // secrets are stars
	Origin Origin
}

// Keys are the keys of all settings, in the order of the reference.
func Keys() (out []string) {
	for _, k := range keys.Table(new(Settings)).All() {
		out = append(out, k.Path)
	}
	return out
}

// Effective lists all keys in the order of the reference, with secrets hidden.
func (l *Loaded) Effective() ([]Effective, error) {
	return l.effective(func(k keys.Key) any { return k.Value.Interface() })
}

func (l *Loaded) effective(shown func(keys.Key) any) (all []Effective, err error) {
	for _, k := range keys.Table(&l.Settings).All() {
		if k.Optional && k.Value.IsZero() && l.loader.Origins.Untouched(k.Path) {
			continue
		}
		value, err := keys.Encode(shown(k), "")
		if err != nil {
			return nil, fmt.Errorf("show %s: %w", k.Path, err)
		}
		all = append(all, Effective{Key: k.Path, Value: value, Origin: l.loader.Origins.Of(k.Path)})
	}
	return all, nil
}

// Changed names the keys whose values differ between l and other, sorted. Secrets are compared by their text.
func (l *Loaded) Changed(other *Loaded) ([]string, error) {
	before, err := l.values()
	if err != nil {
		return nil, err
	}
	after, err := other.values()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	// The text of a value is never empty, so a key that exists on one side only differs as well.
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool { return before[key] == after[key] }), nil
}

// values are the keys of Effective with their values as text, including secrets. Values of the catalog are left out, as
// they change only with the keys that they are about.
func (l *Loaded) values() (map[string]string, error) {
	all, err := l.effective(func(k keys.Key) any {
		if secret, ok := reflect.TypeAssert[Secret](k.Value); ok {
			return secret.Reveal()
		}
		return k.Value.Interface()
	})
	out := make(map[string]string, len(all))
	for _, k := range all {
		if k.Origin.Source != FromCatalog {
			out[k.Key] = string(k.Value)
		}
	}
	return out, err
}

// Show returns the effective settings as indented JSON, with secrets hidden. With withOrigins the document has the
// members settings and origins, the latter by key.
func (l *Loaded) Show(withOrigins bool) ([]byte, error) {
	if !withOrigins {
		return keys.Encode(l.Settings, "  ")
	}
	effective, err := l.Effective()
	if err != nil {
		return nil, err
	}
	document := struct {
		Settings Settings          `json:"settings"`
		Origins  map[string]string `json:"origins"`
	}{l.Settings, map[string]string{}}
	for _, k := range effective {
		document.Origins[k.Key] = k.Origin.String()
	}
	return keys.Encode(document, "  ")
}
