package openai

import (
	"encoding/json"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Nothing is escaped that JSON itself
// does not ask for; bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendText(dst, s)
	return append(dst, '"')
}

// appendText appends s as the inside of a JSON string.
func appendText(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && plain(s[i:i+8]) {
			i += 8
			continue
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = appendEscape(append(dst, s[start:i]...), c)
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// plain reports whether eight bytes are all ASCII that needs no escape.
func plain(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	control := v - ones*' '
	quote := (v ^ ones*'"') - ones
	slash := (v ^ ones*'\\') - ones
	return (v|control|quote|slash)&highs == 0
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

// appendCompact appends valid JSON without the space between its tokens.
func appendCompact(dst []byte, raw json.RawMessage) []byte {
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw):
			dst = append(dst, c)
			i++
			c = raw[i]
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// appendQuotedJSON appends valid JSON, without the space between its tokens, as
// one JSON string.
func appendQuotedJSON(dst []byte, raw json.RawMessage) []byte {
	dst = append(dst, '"')
	inString, start := false, 0
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw):
			dst = append(append(dst, raw[start:i]...), '\\', '\\')
			i++
			start = i
			if raw[i] == '"' || raw[i] == '\\' {
				dst = append(dst, '\\', raw[i])
				start = i + 1
			}
		case c == '"':
			inString = !inString
			dst = append(append(dst, raw[start:i]...), '\\', '"')
			start = i + 1
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			dst = append(dst, raw[start:i]...)
			start = i + 1
		}
	}
	dst = append(dst, raw[start:]...)
	return append(dst, '"')
}

// appendMember appends a comma and the name of a member.
func appendMember(dst []byte, name string) []byte {
	dst = append(dst, ',')
	dst = appendString(dst, name)
	return append(dst, ':')
}
