package jsonpos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// wanted is what the grammar takes next.
type wanted int

const (
	aValue wanted = iota
	aKey
	aColon
	aComma // or a closing bracket
)

// scan knows the text before a fault, which is valid as far as it goes.
type scan struct {
	src    []byte
	open   []int // the offsets of the brackets that are still open
	last   int   // the offset of the last token, -1 before the first one
	end    int   // the offset after it
	escape int   // the offset of the last backslash in it
	want   wanted
	inside bool // the last token is a string that is still open
	deep   int  // the offset of the bracket that nests too deep, or -1
}

// explain words the fault of a text that encoding/json refuses at an offset. A text
// that it accepts can still nest too deep.
func explain(src []byte, at int, refused bool) *SyntaxError {
	s := &scan{src: src, last: -1, deep: -1}
	word := at // the start of the word that the offset is in
	for word > 0 && isWordByte(src[word-1]) {
		word--
	}
	s.read(word)
	if s.inside {
		s.read(at)
	}
	switch {
	case s.deep >= 0:
		return faultAt(src, s.deep, "", "values nest more than %d deep", MaxDepth)
	case !refused:
		return nil
	case s.inside:
		return s.inString(at)
	}
	if fault := s.word(word); fault != nil {
		return fault
	}
	switch {
	case at == len(src):
		return s.tooShort()
	case src[at] == '/' || src[at] == '#':
		return faultAt(src, at, "remove it, or keep notes in another file", "JSON has no comments")
	}
	return s.unexpected(at)
}

// read takes the tokens up to an offset.
func (s *scan) read(to int) {
	for i := s.end; i < to; i++ {
		c := s.src[i]
		switch {
		case s.inside && c == '\\':
			s.escape = i
			i++
		case s.inside && c == '"':
			s.inside, s.end = false, i+1
			if s.want++; s.want != aColon { // A colon follows a key only.
				s.want = aComma
			}
		case s.inside || bytes.IndexByte([]byte(" \t\r\n"), c) >= 0:
		default:
			s.token(i, c)
		}
	}
}

// token takes the first byte of a token.
func (s *scan) token(i int, c byte) {
	s.last, s.end = i, i+1
	switch c {
	case '"':
		s.inside = true
	case '{', '[':
		s.open = append(s.open, i)
		if len(s.open) > MaxDepth && s.deep < 0 {
			s.deep = i
		}
		s.want = s.first()
	case '}', ']':
		s.open = s.open[:len(s.open)-1]
		s.want = aComma
	case ',':
		s.want = s.first()
	case ':':
		s.want = aValue
	default:
		s.want = aComma
	}
}

// first is what the innermost bracket holds.
func (s *scan) first() wanted {
	if s.opener() == '{' {
		return aKey
	}
	return aValue
}

// opener is the innermost bracket that is open, or 0.
func (s *scan) opener() byte {
	if len(s.open) == 0 {
		return 0
	}
	return s.src[s.open[len(s.open)-1]]
}

func (s *scan) inString(at int) *SyntaxError {
	length := at - s.escape
	switch {
	case s.escape > s.last && length == 1 && at == len(s.src):
		return faultAt(s.src, s.escape, `add the closing "`, "the text ends inside a string")
	case s.escape > s.last && length == 1:
		return faultAt(s.src, s.escape, `write a backslash as \\`, `\ starts an escape that JSON does not have`)
	case s.escape > s.last && length < 6 && s.src[s.escape+1] == 'u':
		return faultAt(s.src, s.escape, `write a backslash as \\`, `\u needs four hexadecimal digits`)
	case at == len(s.src) || s.src[at] == '\n' || s.src[at] == '\r':
		return faultAt(s.src, s.last, `add the closing " on the same line; a line break is written \n`, "the string that starts here has no end")
	}
	return faultAt(s.src, at, `write it as \t or \u00XX`, "a string contains a control character")
}

// word takes the word or number at an offset, if a value may be there.
func (s *scan) word(start int) *SyntaxError {
	end := start
	for end < len(s.src) && isWordByte(s.src[end]) {
		end++
	}
	switch text := s.src[start:end]; {
	case len(text) == 0 || s.want != aValue:
	case json.Valid(text):
		s.last, s.end, s.want = start, end, aComma
	case text[0] == '-' || text[0] >= '0' && text[0] <= '9':
		return faultAt(s.src, start, "write it like 12, -3 or 0.5, or put text into double quotes", "this is not a number")
	default:
		return faultAt(s.src, start, "put text into double quotes; bare words are only true, false and null", "this word is not a value")
	}
	return nil
}

func (s *scan) tooShort() *SyntaxError {
	end := len(s.src)
	switch {
	case s.want == aColon:
		return faultAt(s.src, end, "", "the text ends after a key")
	case s.last < 0 || s.src[s.last] == ':':
		return faultAt(s.src, end, "", "the text ends where a value is expected")
	}
	open := Place{1, 1}.after(s.src[:s.open[len(s.open)-1]])
	return faultAt(s.src, end, fmt.Sprintf("add %c", s.closer()), "the text ends, but the %c of line %d, column %d is still open", s.opener(), open.Line, open.Col)
}

// closer is the bracket that closes the innermost one.
func (s *scan) closer() byte { return s.opener() + 2 } // true of {} and [] in ASCII

// unexpected words a character that the grammar does not take.
func (s *scan) unexpected(at int) *SyntaxError {
	c := s.src[at]
	closes := c == '}' || c == ']'
	switch {
	case s.want == aColon:
		return faultAt(s.src, at, `write "key": value, and check the quotes`, "a colon is missing after the key")
	case s.want != aComma && c == s.closer() && s.last >= 0 && s.src[s.last] == ',':
		return faultAt(s.src, s.last, "remove the comma", "trailing comma before %c", c)
	case s.want == aKey:
		return s.badKey(at, c)
	case s.want == aValue:
		return s.badValue(at, c)
	case closes && len(s.open) == 0:
		return faultAt(s.src, at, "remove it", "%c closes nothing here", c)
	case closes:
		line := Place{1, 1}.after(s.src[:s.open[len(s.open)-1]]).Line
		return faultAt(s.src, at, fmt.Sprintf("line %d opened with %c, so it closes with %c", line, s.opener(), s.closer()), "%c closes nothing here", c)
	case len(s.open) == 0:
		return faultAt(s.src, at, "keep one { … } in the file", "text follows after the end of the value")
	}
	return faultAt(s.src, s.end, "put a comma between two values", "a comma is missing here")
}

func (s *scan) badKey(at int, c byte) *SyntaxError {
	switch {
	case c == '\'':
		return faultAt(s.src, at, `use double quotes: "key"`, "a key is in single quotes")
	case c == ',':
		return faultAt(s.src, at, "remove it", "a comma too many")
	case c == ']' || c == ')':
		return faultAt(s.src, at, "an object closes with }", "%c closes nothing here", c)
	case isWordByte(c):
		return faultAt(s.src, at, `put it into double quotes: "key"`, "a key has no quotes")
	}
	return faultAt(s.src, at, `write "key": value`, "%s is where a key is expected", s.shown(at))
}

func (s *scan) badValue(at int, c byte) *SyntaxError {
	switch c {
	case '\'', '`':
		return faultAt(s.src, at, "use double quotes", "a string is in the wrong quotes")
	case ',':
		return faultAt(s.src, at, "write the value, or remove the comma", "a value is missing before the comma")
	case '}', ']':
		return faultAt(s.src, at, "", "a value is missing before %c", c)
	case ':', '=':
		return faultAt(s.src, at, `write "key": value`, "%c too many", c)
	}
	return faultAt(s.src, at, "", "%s is where a value is expected", s.shown(at))
}

// shown is the character at an offset, if it can be shown.
func (s *scan) shown(at int) string {
	r, _ := utf8.DecodeRune(s.src[at:])
	if unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf("%U", r)
}

func isWordByte(c byte) bool {
	return c == '-' || c == '+' || c == '.' || c == '_' || c >= utf8.RuneSelf ||
		(c >= '0' && c <= '9') || (c|0x20 >= 'a' && c|0x20 <= 'z')
}
