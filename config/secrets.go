package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// Secrets are all secrets that are set, in the order of the table, each once.
func (s *Settings) Secrets() []Secret {
	var out []Secret
	for _, k := range keys.Table(s).All() {
		secret, _ := reflect.TypeAssert[Secret](k.Value)
		parts := []string{secret.Reveal()}
		if k.Variable == "" {
			parts = secretParts(k.Name, secret.Reveal())
		}
		for _, part := range parts {
			if part := NewSecret(part); !part.IsZero() && !slices.ContainsFunc(out, part.Equal) {
				out = append(out, part)
			}
		}
	}
	return out
}

// secretParts are the words in the value of a header or query parameter that must not be printed. If the name says
// that the value is secret, these are the words of at least 6 bytes; otherwise those of at least 16, since shorter
// ones may occur by chance. Words such as Bearer and API versions are not secret.
func secretParts(name, value string) []string {
	least := 16
	switch {
	case keys.SecretWords().MatchString(name):
		least = 6
	case strings.EqualFold(name, "api-version"):
		return nil
	}
	return slices.DeleteFunc(strings.Fields(value), func(part string) bool {
		return len(part) < least || strings.EqualFold(part, "Bearer")
	})
}
