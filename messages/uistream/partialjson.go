package uistream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// ParseState says whether a text that should be JSON is.
type ParseState string

// The outcomes of RepairJSON.
const (
	ParseSuccessful ParseState = "successful-parse"
	ParseRepaired   ParseState = "repaired-parse"
	ParseFailed     ParseState = "failed-parse"
)

// RepairJSON reads a JSON text that may be cut off anywhere. It keeps the longest
// beginning that can be completed and completes it. The value is nil if that
// fails, and never shares memory with text. Objects with members that could
// reach a prototype fail.
func RepairJSON(text string) (json.RawMessage, ParseState) {
	if v := parseSafely([]byte(text)); v != nil {
		return v, ParseSuccessful
	}
	if v := parseSafely(repair(text)); v != nil {
		return v, ParseRepaired
	}
	return nil, ParseFailed
}

// parseSafely returns the value in one line, or nil.
func parseSafely(text []byte) json.RawMessage {
	if !rawjson.Valid(text) || NamesPrototype(text) {
		return nil
	}
	return rawjson.Compact(text)
}

// NamesPrototype reports whether an object somewhere in a valid value has a member __proto__, or a
// constructor with a prototype, which could change prototypes in a JavaScript reader.
func NamesPrototype(v []byte) bool {
	quick := bytes.Contains(v, []byte(`\u`)) || bytes.Contains(v, []byte("__proto__")) || bytes.Contains(v, []byte("constructor"))
	return quick && poisoned(v)
}

func poisoned(v []byte) bool {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		for k, e := range rawjson.Members(v) {
			if string(k) == "__proto__" || poisoned(e) {
				return true
			}
			if string(k) == "constructor" && rawjson.KindOf(e) == rawjson.Object {
				if _, ok := rawjson.Lookup(e, "prototype"); ok {
					return true
				}
			}
		}
	case rawjson.Array:
		for _, e := range rawjson.Elements(v) {
			if poisoned(e) {
				return true
			}
		}
	case rawjson.None, rawjson.Null, rawjson.Bool, rawjson.Number, rawjson.String:
	}
	return false
}

// place is the position of the repairer in the grammar of JSON.
type place byte

const (
	atRoot place = iota
	atEnd
	inString
	inEscape
	inUnicode
	inNumber
	inWord
	objectOpen
	objectComma
	objectKey
	objectColon
	objectValue
	objectNext
	arrayOpen
	arrayComma
	arrayNext
	closed // the object or array ended
)

// next is the place that follows after the punctuation c; ok is false if c is none that
// is expected.
func (p place) next(c byte) (after place, ok bool) {
	switch {
	case c == '"' && (p == objectOpen || p == objectComma):
		return objectKey, true
	case c == '"' && p == objectKey:
		return objectColon, true
	case c == ':' && p == objectColon:
		return objectValue, true
	case c == ',' && p == objectNext:
		return objectComma, true
	case c == ',' && p == arrayNext:
		return arrayComma, true
	case c == '}' && (p == objectOpen || p == objectNext), c == ']' && (p == arrayOpen || p == arrayNext):
		return closed, true
	}
	return p, false
}

// repairer reads a text byte by byte. It skips what it does not expect, so that the good
// parts of a garbled text are kept.
type repairer struct {
	text string
	// good is the length of the text that can be kept.
	good int
	// open are the places to return to; the last is the present one.
	open []place
	// word is where the current literal begins, hex the number of digits of a unicode
	// escape that were seen.
	word int
	hex  int
	// width is that of the current character.
	width int
}

func repair(text string) []byte {
	r := repairer{text: text, open: []place{atRoot}}
	for i := 0; i < len(text); i += r.width {
		_, r.width = utf8.DecodeRuneInString(text[i:])
		r.step(i)
	}
	return r.complete()
}

func (r *repairer) become(p place)  { r.open[len(r.open)-1] = p }
func (r *repairer) push(p place)    { r.open = append(r.open, p) }
func (r *repairer) pop()            { r.open = r.open[:len(r.open)-1] }
func (r *repairer) keep(i int)      { r.good = i + r.width }
func (r *repairer) closeWith(i int) { r.keep(i); r.pop() }

func (r *repairer) step(i int) {
	switch at := r.open[len(r.open)-1]; at {
	case atRoot:
		r.value(i, atEnd)
	case objectValue:
		r.value(i, objectNext)
	case arrayComma:
		r.value(i, arrayNext)
	case inString, inEscape, inUnicode:
		r.stringByte(i, at)
	case inNumber:
		r.number(i)
	case inWord:
		r.literal(i)
	default:
		if r.punctuation(i) {
			return
		}
		if at == arrayOpen || at == arrayNext {
			r.keep(i)
		}
		if at == arrayOpen {
			r.value(i, arrayNext)
		}
	}
}

// punctuation reports whether the byte is punctuation that is expected, and follows it.
func (r *repairer) punctuation(i int) bool {
	next, ok := r.open[len(r.open)-1].next(r.text[i])
	switch {
	case ok && next == closed:
		r.closeWith(i)
	case ok:
		r.become(next)
	}
	return ok
}

// value starts a value, after which the document continues at next.
func (r *repairer) value(i int, next place) {
	var inside place
	switch c := r.text[i]; {
	case c == '"':
		inside = inString
	case c == '{':
		inside = objectOpen
	case c == '[':
		inside = arrayOpen
	case c == 't' || c == 'f' || c == 'n':
		inside = inWord
		r.word = i
	case c == '-' || c >= '0' && c <= '9':
		inside = inNumber
	default:
		return
	}
	if r.text[i] != '-' { // a sign alone is not a number
		r.keep(i)
	}
	r.become(next)
	r.push(inside)
}

// stringByte reads a byte of a string or of an escape in one. An escape waits for four
// hexadecimal digits and skips everything else.
func (r *repairer) stringByte(i int, at place) {
	c := r.text[i]
	switch {
	case at == inEscape && c == 'u':
		r.hex = 0
		r.become(inUnicode)
	case at == inUnicode && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)):
	case at == inUnicode:
		if r.hex++; r.hex == 4 {
			r.closeWith(i)
		}
	case at == inEscape || c == '"':
		r.closeWith(i)
	case c == '\\':
		r.push(inEscape)
	default:
		r.keep(i)
	}
}

func (r *repairer) number(i int) {
	switch c := r.text[i]; {
	case c >= '0' && c <= '9':
		r.keep(i)
	case c == 'e' || c == 'E' || c == '-' || c == '.':
	default:
		r.pop()
		r.punctuation(i)
	}
}

func (r *repairer) literal(i int) {
	if completion(r.text[r.word:i+1]) == "" {
		r.pop()
		r.punctuation(i)
		return
	}
	r.keep(i)
}

// completion is the word that begins like this, or empty.
func completion(part string) string {
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(word, part) {
			return word
		}
	}
	return ""
}

// complete closes everything that is open at the end of what is good.
func (r *repairer) complete() []byte {
	out := append(make([]byte, 0, r.good+len(r.open)+8), r.text[:r.good]...)
	for _, p := range slices.Backward(r.open) {
		switch {
		case p == inString:
			out = append(out, '"')
		case p >= objectOpen && p <= objectNext:
			out = append(out, '}')
		case p >= arrayOpen && p <= arrayNext:
			out = append(out, ']')
		case p == inWord:
			part := r.text[r.word:]
			out = append(out, strings.TrimPrefix(completion(part), part)...)
		}
	}
	return out
}
