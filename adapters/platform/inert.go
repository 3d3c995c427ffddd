package platform

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert is what somebody chose, as a name, for a text of ours that is read as Markdown:
// whatever it looks like, people see it as it is, in one line.
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
