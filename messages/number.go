package messages

import (
	"strconv"
	"strings"
)

// HalfWidth replaces the full-width forms of ASCII characters, which Chinese keyboards type, by these.
func HalfWidth(text string) string {
	return strings.Map(func(r rune) rune {
		if '！' <= r && r <= '～' {
			return r - '！' + '!'
		}
		return r
	}, text)
}

// NumberOf returns the number that a person typed in a command, from 1 on: 2, #2 or 2., also in full-width characters.
func NumberOf(word string) (n int, ok bool) {
	word = strings.TrimPrefix(strings.TrimRight(HalfWidth(word), ".。"), "#")
	parsed, err := strconv.ParseUint(word, 10, 31)
	return int(parsed), err == nil && parsed > 0 // 31 bits
}
