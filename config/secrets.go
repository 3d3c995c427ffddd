package config

import (
	"reflect"
	"strings"
)

// Secrets are all that are set, in the order of the settings, each once.
func (s *Settings) Secrets() []Secret {
	var out []Secret
	seen := map[string]bool{}
	kind := reflect.TypeFor[Secret]()
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch {
		case v.Type() == kind:
			if secret, ok := reflect.TypeAssert[Secret](v); ok && !secret.IsZero() && !seen[secret.Reveal()] {
				seen[secret.Reveal()] = true
				out = append(out, secret)
			}
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case v.Kind() == reflect.Map:
			for _, key := range v.MapKeys() {
				if v.Type().Elem() != kind {
					walk(v.MapIndex(key))
				} else if secret, ok := reflect.TypeAssert[Secret](v.MapIndex(key)); ok {
					for _, part := range secretParts(key.String(), secret.Reveal()) {
						walk(reflect.ValueOf(NewSecret(part)))
					}
				}
			}
		case v.Kind() == reflect.Pointer && !v.IsNil():
			walk(v.Elem())
		}
	}
	walk(reflect.ValueOf(s).Elem())
	return out
}

// The shortest words of headers and parameters that are secrets: those with a name that
// says so, and others, which a text may hold by chance.
const (
	minNamedSecret = 6
	minOtherSecret = 16
)

// secretParts are the words of a header or query parameter that must not be printed.
// Words such as Bearer are none, nor are versions of an API.
func secretParts(name, value string) []string {
	least := minOtherSecret
	switch {
	case secretWords().MatchString(name):
		least = minNamedSecret
	case strings.EqualFold(name, "api-version"):
		return nil
	}
	var out []string
	for part := range strings.FieldsSeq(value) {
		if len(part) >= least && !strings.EqualFold(part, "Bearer") {
			out = append(out, part)
		}
	}
	return out
}
