// Package visible makes all of the text that people are asked to approve visible: a character that
// is invisible, or changes how the rest is displayed, becomes a mark such as ⟦U+202E⟧. Line breaks
// stay, except those at the end.
//
// Promises: the functions are pure, take any bytes, and never give the same text for two different
// ones, so that what is shown is what runs; only [Exact] leaves out one line break at the end.
// [Block] makes such a text a block of Markdown that no text in it can end.
package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
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

// Exact is Text for what people are asked to approve. It does not mark the one line break that
// ordinarily ends a text: the break is invisible, and approvals are bound to the bytes. Further
// ones are marked.
func Exact(s string) string { return Text(strings.TrimSuffix(s, "\n")) }

// ends reports whether a line ends here, so that a blank before it is invisible.
func ends(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	return rest == "" || rest[0] == '\n'
}

// hidden reports whether a rune is invisible, or is part of a mark.
func hidden(r rune) bool {
	switch {
	case r == opening || r == closing:
		return true
	case r == ' ' || r == '\n':
		return true // at the end of a line or of the text
	case unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	case r == '\u2800' || r == '\u17b4' || r == '\u17b5': // blanks that count as letters or symbols
		return true
	}
	return !strconv.IsPrint(r)
}

// JSON returns JSON with escapes for invisible characters, which is equivalent.
func JSON(input string) string {
	var b strings.Builder
	for i := 0; i < len(input); {
		r, n := utf8.DecodeRuneInString(input[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "%c0x%02X%c", opening, input[i], closing) // not JSON
		case r != ' ' && r != '\n' && r != opening && r != closing && hidden(r):
			for _, u := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Block returns a text as a block of code in Markdown that no text in it can end.
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

// Sentence returns one line of Markdown that shows only its words.
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
