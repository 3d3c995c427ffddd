package grant

import (
	"unicode"
	"unicode/utf8"
)

// maxBytes is the length of the longest command that is checked.
const maxBytes = 8192

// printable reports whether a text can be checked by its appearance: valid UTF-8 of bounded length,
// no control characters but TAB and LF, nothing invisible, no blanks but the plain one, and no
// unassigned code points.
func printable(text string) bool {
	if len(text) > maxBytes {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			if size == 1 || !unicode.IsPrint(r) { // one byte: an invalid rune
				return false
			}
			i += size - 1
		case c < ' ' && c != '\t' && c != '\n', c == 0x7f:
			return false
		}
	}
	return true
}

// hasControl reports whether a printable text has a TAB or an LF.
func hasControl(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' {
			return true
		}
	}
	return false
}
