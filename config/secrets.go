package config

import "reflect"

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
				walk(v.MapIndex(key))
			}
		case v.Kind() == reflect.Pointer && !v.IsNil():
			walk(v.Elem())
		}
	}
	walk(reflect.ValueOf(s).Elem())
	return out
}
