package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Only quote, backslash and control
// characters are escaped; bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
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
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
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
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
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

// Append appends a raw value without the whitespace between its tokens, so that
// it fits into a line. A value that is not valid JSON is appended as a JSON
// string of its bytes: the line stays readable and nothing is lost.
func Append(dst, raw []byte) []byte {
	if !Valid(raw) {
		return AppendString(dst, string(raw))
	}
	return compact(dst, raw)
}

// Compact returns the raw value without whitespace between its tokens; the
// result never shares memory with raw. The value must be valid JSON.
func Compact(raw []byte) []byte {
	return compact(make([]byte, 0, len(raw)), raw)
}

func compact(dst, raw []byte) []byte {
	from := 0
	for i := 0; i < len(raw); {
		switch raw[i] {
		case ' ', '\n', '\t', '\r':
			dst = append(dst, raw[from:i]...)
			i++
			from = i
		case '"':
			i = skipString(raw, i)
		default:
			i++
		}
	}
	return append(dst, raw[from:]...)
}

// Unquote returns the text of a valid JSON string. Half a surrogate pair and
// bytes that are not UTF-8 become U+FFFD. ok is false if v is not a string.
func Unquote(v []byte) (s string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	return string(unquoteBytes(v)), true
}

// unquoteBytes returns the text inside a valid quoted string, as a slice of it
// where nothing needs decoding.
func unquoteBytes(v []byte) []byte {
	if len(v) < 2 {
		return nil
	}
	in := v[1 : len(v)-1]
	if bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return in
	}
	out := make([]byte, 0, len(in)+utf8.UTFMax)
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			r, size := utf8.DecodeRune(in[i:])
			out = utf8.AppendRune(out, r)
			i += size
			continue
		}
		if i+1 >= len(in) {
			break
		}
		if in[i+1] != 'u' {
			out = append(out, unescape(in[i+1]))
			i += 2
			continue
		}
		var r rune
		r, i = unescapeUnicode(in, i)
		out = utf8.AppendRune(out, r)
	}
	return out
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}

// unescapeUnicode decodes the \u escape at i, with its second half if it is a
// surrogate, and returns the index after it.
func unescapeUnicode(in []byte, i int) (rune, int) {
	r, ok := hex4(in, i+2)
	if !ok {
		return utf8.RuneError, len(in)
	}
	i += 6
	if !utf16.IsSurrogate(r) {
		return r, i
	}
	if i+1 < len(in) && in[i] == '\\' && in[i+1] == 'u' {
		if low, ok := hex4(in, i+2); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, i + 6
			}
		}
	}
	return utf8.RuneError, i
}

func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			c = c - 'A' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
