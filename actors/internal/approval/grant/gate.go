package grant

import (
	"unicode"
	"unicode/utf8"
)

// maxBytes is the length of the longest command that is considered.
const maxBytes = 8192

// printable reports whether the look of a text can be trusted: valid UTF-8 of limited length, no control characters
// except TAB and LF, no invisible characters, no blanks except the plain space, and no unassigned code points.
func printable(text string) bool {
	if len(text) > maxBytes {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			if size == 1 || !unicode.IsPrint(r) { // size 1 means invalid UTF-8
				return false
			}
			i += size - 1
		case c < ' ' && c != '\t' && c != '\n', c == 0x7f:
			return false
		}
	}
	return true
}

// hasControl reports whether a printable text contains a TAB or an LF.
func hasControl(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' {
			return true
		}
	}
	return false
}
