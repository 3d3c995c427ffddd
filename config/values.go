package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// The types of values that have their own forms in ship.json.
type (
	// Secret is a text that cannot be printed.
	Secret = keys.Secret
	// Limit is a positive number, or 0 for no limit ("off").
	Limit = keys.Limit
	// TokenBudget is a number of tokens, or 0 for "auto".
	TokenBudget = keys.TokenBudget
	// Dollars is a positive amount of US dollars, or 0 for no limit ("off").
	Dollars = keys.Dollars
	// Tags are the names of tags.
	Tags = keys.Tags
)

// What [Load] says about the settings.
type (
	// Finding is one remark on the settings.
	Finding = keys.Finding
	// InvalidError says that the settings cannot be used.
	InvalidError = keys.InvalidError
	// Origin says where the value of a key came from.
	Origin = keys.Origin
)

// The severities and sources, and the word that disables something.
const (
	Warn  = keys.Warn
	Error = keys.Error

	FromFlag    = keys.FromFlag
	FromEnv     = keys.FromEnv
	FromFile    = keys.FromFile
	FromKey     = keys.FromKey
	FromCatalog = keys.FromCatalog
	FromDefault = keys.FromDefault

	Off = keys.Off
)

// NewSecret hides a text.
func NewSecret(text string) Secret { return keys.NewSecret(text) }

// Nearest returns the candidate that a person most likely meant by a word, or "".
func Nearest(word string, candidates []string) string { return keys.Nearest(word, candidates) }

// EnvName is the environment variable that sets a key.
func EnvName(key string) string { return keys.EnvName(key) }

// Secrets are all secrets that are set, in the order of the table, each once.
func (s *Settings) Secrets() []Secret {
	var out []Secret
	for _, k := range keys.Table(s).All() {
		secret, _ := reflect.TypeAssert[Secret](k.Value)
		if secret.IsZero() {
			continue
		}
		parts := []string{secret.Reveal()}
		if k.Variable == "" {
			parts = secretParts(k.Name, secret.Reveal())
		}
		for _, part := range parts {
			if part := NewSecret(part); !slices.ContainsFunc(out, part.Equal) {
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
