// Package visible formats what people are asked about so that they see all of it: characters that are invisible, or
// that change how the rest is displayed, become marks such as ⟦U+202E⟧. Line breaks are kept, except at the end.
//
// The functions are pure and accept any bytes. Different inputs never give the same text, so that what is shown is
// what runs; only [Exact] omits one line break at the end. [Block] puts such a text into a Markdown code block that
// the text cannot end.
package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const opening, closing = '⟦', '⟧'

// Text returns a text with marks for invisible characters.
func Text(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "%c0x%02X%c", opening, s[i], closing)
		case r == '\n' && strings.Trim(s[i:], "\n") != "" || r == ' ' && !ends(s[i+1:]):
			b.WriteRune(r)
		case hidden(r):
			fmt.Fprintf(&b, "%cU+%04X%c", opening, r, closing)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Exact is Text for what people are asked about, without a mark for the single line break at the end of most texts.
// That line break does not change what is shown, and approvals are bound to the bytes anyway. Further ones are marked.
func Exact(s string) string { return Text(strings.TrimSuffix(s, "\n")) }

// ends reports whether a line ends here, so that a blank before it would be invisible.
func ends(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	return rest == "" || rest[0] == '\n'
}

// hidden reports whether a rune is invisible or is part of a mark.
func hidden(r rune) bool {
	switch {
	case r == opening || r == closing:
		return true
	case r == ' ' || r == '\n':
		return true // only reached at the end of a line or of the text
	case unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	case r == '\u2800' || r == '\u17b4' || r == '\u17b5': // invisible characters that count as letters or symbols
		return true
	}
	return !strconv.IsPrint(r)
}

// Block returns a text as a Markdown code block that the text cannot end.
func Block(kind, text string) string {
	longest, ticks := 2, 0
	for _, r := range text {
		if ticks++; r != '`' {
			ticks = 0
		}
		longest = max(longest, ticks)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + kind + "\n" + text + "\n" + fence
}

// Sentence returns a text as one line of Markdown in which only its words have a meaning.
func Sentence(s string) string {
	var b strings.Builder
	for _, r := range Text(strings.Join(strings.Fields(s), " ")) {
		if r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
