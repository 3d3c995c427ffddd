package markup

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Len returns the length of a text in UTF-16 units.
func Len(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n += utf16.RuneLen(r)
	}
	return n
}

// clean makes a text valid UTF-8 with \n line breaks and without control characters, which
// terminals would interpret and chats refuse.
func clean(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// visible reports whether a text shows anything. Telegram also counts an empty braille cell and the
// object replacement character as spaces, and refuses a text of spaces.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && unicode.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
			r != '\u2800' && r != '\ufffc'
	})
}

// joins reports whether a rune belongs to the character before it.
func joins(r rune) bool {
	return r == zeroWidthJoiner || unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc, unicode.Variation_Selector) ||
		r >= 0x1F3FB && r <= 0x1F3FF // skin tones
}

const zeroWidthJoiner = '\u200D'

// isPlain reports that no rule of Markdown changes a text, so that it need not be parsed. It may be
// false for such a text, but is never true for another.
func isPlain(s string) bool {
	lineStart := true
	for i := range len(s) {
		c := s[i]
		if lineStart && !plainStart(s[i:]) {
			return false
		}
		lineStart = c == '\n'
		switch c {
		case '\\', '`', '*', '_', '~', '[', '<', '&', '|', '@', '\t':
			return false
		case ':':
			if strings.HasPrefix(s[i+1:], "//") {
				return false
			}
		case 'w':
			if strings.HasPrefix(s[i:], "www.") {
				return false
			}
		case '\n':
			if i > 0 && s[i-1] == ' ' || strings.HasPrefix(s[i+1:], "\n\n") {
				return false
			}
		}
	}
	return true
}

// plainStart reports whether a line cannot begin a block.
func plainStart(line string) bool {
	switch c := line[0]; {
	case c == ' ', c == '#', c == '>', c == '-', c == '+', c == '=':
		return false
	case '0' <= c && c <= '9':
		rest := strings.TrimLeft(line, "0123456789")
		return rest == "" || rest[0] != '.' && rest[0] != ')'
	}
	return true
}

// paragraphs makes blocks of a text that is shown literally.
func paragraphs(src string) []leaf {
	var out []leaf
	for p := range strings.SplitSeq(src, "\n\n") {
		if p = strings.Trim(p, "\n"); visible(p) {
			out = append(out, newText([]span{{text: p}}, position{blank: true}))
		}
	}
	return out
}
