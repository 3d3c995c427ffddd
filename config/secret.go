package config

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
)

// stars replace every secret, whatever its length.
const stars = "********"

// Secret is a text that cannot be printed: all ways of formatting, encoding or logging it give stars, or nothing if
// it is empty. Only [Secret.Reveal] returns the text.
//
// The text is stored behind a pointer, because fmt prints unexported fields by reflection without calling methods,
// and so shows only an address. A Secret may be copied; compare with [Secret.Equal]. The zero value is the empty
// secret.
type Secret struct{ text *string }

// NewSecret hides a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text. Pass it only to code that needs it, and keep no copy.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether the secret is empty, which means not set.
func (s Secret) IsZero() bool { return s.text == nil }

// Equal reports whether both contain the same text. It does not take constant time: use crypto/subtle for input from
// outside.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns stars.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return stars
}

// Format writes stars for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	// A formatter has nowhere to report a failed write.
	_, _ = io.WriteString(f, s.String())
}

// MarshalText writes stars. There is no way back: only [Load] reads secrets, as it knows their origin.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue logs stars.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Secrets are all secrets that are set, in the order of the table, each once.
func (s *Settings) Secrets() []Secret {
	var out []Secret
	for _, k := range table(s).all() {
		secret, _ := reflect.TypeAssert[Secret](k.value)
		parts := []string{secret.Reveal()}
		if k.variable == "" {
			parts = secretParts(k.name, secret.Reveal())
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
	case secretWords().MatchString(name):
		least = 6
	case strings.EqualFold(name, "api-version"):
		return nil
	}
	return slices.DeleteFunc(strings.Fields(value), func(part string) bool {
		return len(part) < least || strings.EqualFold(part, "Bearer")
	})
}
