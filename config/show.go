package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Effective is one key with its value and origin.
type Effective struct {
	Key    string
	Value  json.RawMessage // secrets are stars
	Origin Origin
}

// Effective lists all keys in the order of the reference, with secrets hidden.
func (l *Loaded) Effective() ([]Effective, error) {
	return l.effective(func(k keyValue) any { return k.value.Interface() })
}

func (l *Loaded) effective(shown func(keyValue) any) (keys []Effective, err error) {
	for _, k := range table(&l.Settings).all() {
		if k.optional && k.value.IsZero() && l.loader.origins.untouched(k.key) {
			continue
		}
		value, err := encode(shown(k), "")
		if err != nil {
			return nil, fmt.Errorf("show %s: %w", k.key, err)
		}
		keys = append(keys, Effective{Key: k.key, Value: value, Origin: l.loader.origins.of(k.key)})
	}
	return keys, nil
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

// values are the keys of Effective with their values as text, including secrets.
func (l *Loaded) values() (map[string]string, error) {
	keys, err := l.effective(func(k keyValue) any {
		if secret, ok := reflect.TypeAssert[Secret](k.value); ok {
			return secret.Reveal()
		}
		return k.value.Interface()
	})
	out := make(map[string]string, len(keys))
	for _, k := range keys {
		out[k.Key] = string(k.Value)
	}
	return out, err
}

// Show returns the effective settings as indented JSON, with secrets hidden. With withOrigins the document has the
// members settings and origins, the latter by key.
func (l *Loaded) Show(withOrigins bool) ([]byte, error) {
	if !withOrigins {
		return encode(l.Settings, "  ")
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
	return encode(document, "  ")
}

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
