package keys

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Stars replace every secret, whatever its length.
const Stars = "********"

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
	return Stars
}

// Format writes stars for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	// A formatter has nowhere to report a failed write.
	_, _ = io.WriteString(f, s.String())
}

// MarshalText writes stars.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText always fails: secrets are read by a [Reader], which knows their origin.
func (s *Secret) UnmarshalText([]byte) error { return errors.New("a secret is read as a setting only") }

// LogValue logs stars.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// SecretWords matches the names of variables and headers that contain secrets.
func SecretWords() *regexp.Regexp {
	return regexp.MustCompile(`(?i)auth|token|key|secret|password|cookie`)
}

// WarnSecrets warns about secrets below a key that the file contains literally, and about those that come from files
// which others can read. It reports whether there are literal ones.
func (r *Reader) WarnSecrets(below string) (literal bool) {
	for _, key := range slices.Sorted(maps.Keys(r.Notes)) {
		n := r.Notes[key]
		if !n.Secret || len(n.missing) > 0 || !strings.HasPrefix(key, below) {
			continue
		}
		if variable := n.Proposed(key); n.literal && variable != "" {
			literal = true
			r.Report(Warn, n.at, key, fmt.Sprintf("%s is spelled out here; write \"${%s}\" and set %s in the environment or in %s", key, variable, variable, EnvFile))
		}
		for _, path := range n.files {
			if _, open := openToOthers(path); open {
				r.Report(Warn, n.at, key, key+" is read from a file that others can read; run chmod 600 on it")
			}
		}
	}
	return literal
}

// Proposed is the variable that a secret may be moved to: that of its row, or one after the name of a header or
// variable that is secret by its name.
func (n Note) Proposed(key string) string {
	block, name := Parent(Parent(key)), key[strings.LastIndexByte(key, '.')+1:]
	if n.variable != "" || !SecretWords().MatchString(name) {
		return n.variable
	}
	for strings.HasSuffix(block, "]") {
		block = Parent(Parent(block))
	}
	block = block[strings.LastIndexByte(block, '.')+1:]
	return strings.ToUpper(regexp.MustCompile("[^a-zA-Z0-9]+").ReplaceAllString(block+"_"+name, "_"))
}
