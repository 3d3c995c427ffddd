package longtext

import (
	"strings"
	"unicode/utf8"
)

// MaxParts is how many messages one answer may take before it is paged.
const MaxParts = 4

// Splitter cuts texts into pages. It is pure.
type Splitter struct {
	MaxText int // UTF-16 units of a message
	Parts   func(text string) int
}

// Long reports whether a text takes more messages than a page may.
func (s Splitter) Long(text string) bool {
	switch n := Units(text, (MaxParts+2)*s.MaxText); {
	case n <= s.MaxText:
		return false
	case n > (MaxParts+2)*s.MaxText:
		return true // markup that is not shown is no sixth of a text that people read
	}
	return s.Parts(text) > MaxParts
}

// Page is the text of the page that begins at a place, and where the next one
// begins: at the end of the text, if this is the last. tail goes with the page when
// it is not the last one.
func (s Splitter) Page(text string, at int, tail string) (body string, end int) {
	open := FenceAt(text, at)
	rest := open + text[at:]
	if !s.Long(rest) {
		return rest, len(text)
	}
	room := MaxParts*s.MaxText - Units(open+tail, 1<<20) - 16
	for tries := 0; ; tries++ {
		end = at + Cut(text[at:], max(room, 1))
		body = open + text[at:end]
		if fence := FenceAt(text, end); fence != "" {
			body = strings.TrimRight(body, "\n") + "\n" + closing(fence)
		}
		if tries == maxCuts || s.Parts(body+tail) <= MaxParts {
			return body, end
		}
		room = room * 9 / 10
	}
}

// maxCuts bounds how often a page is made shorter.
const maxCuts = 20

// Cut is where the text is best cut so that at most so many units come before: behind
// a paragraph, a line, a word, and at least behind its first character.
func Cut(text string, room int) int {
	end := len(prefix(text, room))
	if end == len(text) {
		return end
	}
	for _, mark := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text[:end], mark); i > end/2 {
			return i + len(mark)
		}
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(text)
	}
	return end
}

// prefix is the longest beginning of a text of at most so many UTF-16 units.
func prefix(text string, room int) string {
	n := 0
	for i, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
		if n > room {
			return text[:i]
		}
	}
	return text
}

// Units are the UTF-16 units of a text, counted a little beyond most.
func Units(text string, most int) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
		if n > most {
			break
		}
	}
	return n
}

// FenceAt is the line that opened the block of code that a place is in; empty: none.
func FenceAt(text string, at int) string {
	open := ""
	for line := range strings.Lines(text[:at]) {
		trimmed := strings.TrimLeft(strings.TrimRight(line, "\n"), " ")
		mark := closing(trimmed)
		switch {
		case mark == "" || len(line)-len(strings.TrimLeft(line, " ")) > 3:
		case open == "":
			open = trimmed
		case strings.HasPrefix(mark, closing(open)) && strings.TrimSpace(trimmed) == mark:
			open = ""
		}
	}
	if open == "" {
		return ""
	}
	return open + "\n"
}

// closing is the fence that a line begins with; empty: it begins with none.
func closing(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
