package platform

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert escapes a name that somebody chose for use in Markdown: the name appears literally, on one
// line.
func Inert(name string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(name), " ") {
		if r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
