package openai

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Nearly all chunks of an answer carry a few letters of text and nothing else. They
// are read here without building values; whatever is out of the ordinary makes the
// reader give up, and the full decoder takes over.

// textChunk is such a chunk. The members are JSON strings as they came, nil if
// absent or null.
type textChunk struct {
	content   []byte
	reasoning []byte
	choices   int
}

// readTextChunk reads a chunk that has one choice with text or reasoning, no
// finish reason, no usage, no calls and no error. ok is false for all others.
func readTextChunk(data []byte) (c textChunk, ok bool) {
	s := scanner{b: data}
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "choices":
			c.choices++
			return c.choices == 1 && s.choice(&c)
		case "error", "usage", "x_groq", "message":
			return s.null()
		case "object":
			value, ok := s.str()
			return ok && !bytes.Equal(value, []byte(`"error"`))
		default:
			return s.scalar()
		}
	})
	return c, ok && s.space() == len(data) && c.choices == 1
}

// choice reads an array of one choice.
func (s *scanner) choice(c *textChunk) bool {
	if !s.byte('[') {
		return false
	}
	deltas := 0
	ok := s.object(func(key []byte) bool {
		switch string(key) {
		case "delta":
			deltas++
			return deltas == 1 && s.delta(c)
		case "index":
			return s.byte('0') && s.i < len(s.b) && (s.b[s.i] == ',' || s.b[s.i] == '}')
		case "finish_reason", "message", "usage":
			return s.null()
		default:
			return s.scalar()
		}
	})
	return ok && s.byte(']')
}

func (s *scanner) delta(c *textChunk) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "content":
			return c.content == nil && s.text(&c.content)
		case "reasoning_content":
			return c.reasoning == nil && s.text(&c.reasoning)
		case "role":
			return s.scalar()
		default:
			return s.null()
		}
	})
}

// scanner reads JSON token by token. A method that returns false leaves it where
// it is of no further use.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() int {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
	return s.i
}

// byte takes one byte behind space.
func (s *scanner) byte(c byte) bool {
	if s.space() < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// object reads an object; member reads the value of each member.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.byte('{') {
		return false
	}
	if s.byte('}') {
		return true
	}
	for {
		key, ok := s.key()
		if !ok || !s.byte(':') || !member(key) {
			return false
		}
		if s.byte('}') {
			return true
		}
		if !s.byte(',') {
			return false
		}
	}
}

// key reads a name of small letters, digits and underscores: names that the full
// decoder would match in another spelling are left to it.
func (s *scanner) key() ([]byte, bool) {
	raw, ok := s.str()
	if !ok {
		return nil, false
	}
	raw = raw[1 : len(raw)-1]
	for _, c := range raw {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return nil, false
		}
	}
	return raw, true
}

// str reads a string without escapes, with its quotes.
func (s *scanner) str() ([]byte, bool) {
	raw, escaped, ok := s.token()
	return raw, ok && !escaped
}

// text reads a string or null into to.
func (s *scanner) text(to *[]byte) bool {
	if s.space() < len(s.b) && s.b[s.i] == 'n' {
		return s.null()
	}
	raw, _, ok := s.token()
	*to = raw
	return ok
}

// token reads a string; its escapes are not looked at.
func (s *scanner) token() (raw []byte, escaped, ok bool) {
	if !s.byte('"') {
		return nil, false, false
	}
	start := s.i - 1
	for s.i < len(s.b) {
		c := s.b[s.i]
		s.i++
		switch {
		case c == '"':
			return s.b[start:s.i], escaped, true
		case c < ' ':
			return nil, false, false
		case c == '\\':
			escaped = true
			s.i++
		}
	}
	return nil, false, false
}

func (s *scanner) null() bool { return s.word("null") }

func (s *scanner) word(w string) bool {
	if s.space()+len(w) > len(s.b) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// scalar skips a string without escapes, a whole number, true, false or null.
func (s *scanner) scalar() bool {
	if s.space() >= len(s.b) {
		return false
	}
	switch c := s.b[s.i]; c {
	case '"':
		_, ok := s.str()
		return ok
	case 'n':
		return s.null()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	default:
		start := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > start && (c != '0' || s.i == start+1)
	}
}

// textOfToken decodes a JSON string; ok is false if it is none after all.
func textOfToken(raw []byte) (text string, ok bool) {
	if raw == nil {
		return "", true
	}
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside), true
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
