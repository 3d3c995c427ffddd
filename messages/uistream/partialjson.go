package uistream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// ParseState says what became of a text that should be JSON.
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
	if rawjson.Check(text) != nil || suspicious(text) && poisoned(text) {
		return nil
	}
	return rawjson.Compact(text)
}

// suspicious is a quick look for the names that poisoned finds.
func suspicious(text []byte) bool {
	return bytes.Contains(text, []byte(`\u`)) || bytes.Contains(text, []byte("__proto__")) || bytes.Contains(text, []byte("constructor"))
}

// poisoned reports whether an object in v names a prototype.
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

// place is where in a document the repairer stands.
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
)

// repairer reads a text byte by byte. What it does not expect it passes over, so
// that a garbled text yields what was good of it.
type repairer struct {
	text string
	// good is how much of the text can be kept.
	good int
	// open are the places to return to; the last is the present one.
	open []place
	// word is where the current literal begins, hex how many digits of a unicode
	// escape were seen.
	word int
	hex  int
	// width is that of the character at hand.
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

func (r *repairer) top() place            { return r.open[len(r.open)-1] }
func (r *repairer) become(p place)        { r.open[len(r.open)-1] = p }
func (r *repairer) push(p place)          { r.open = append(r.open, p) }
func (r *repairer) pop()                  { r.open = r.open[:len(r.open)-1] }
func (r *repairer) keep(i int)            { r.good = i + r.width }
func (r *repairer) closeWith(i int)       { r.keep(i); r.pop() }
func (r *repairer) is(i int, c byte) bool { return r.text[i] == c }

func (r *repairer) step(i int) {
	switch r.top() {
	case atRoot:
		r.value(i, atEnd)
	case atEnd:
	case inString:
		r.stringByte(i)
	case inEscape:
		r.escape(i)
	case inUnicode:
		r.unicode(i)
	case inNumber:
		r.number(i)
	case inWord:
		r.literal(i)
	case objectOpen:
		switch {
		case r.is(i, '"'):
			r.become(objectKey)
		case r.is(i, '}'):
			r.closeWith(i)
		}
	case objectComma:
		if r.is(i, '"') {
			r.become(objectKey)
		}
	case objectKey:
		if r.is(i, '"') {
			r.become(objectColon)
		}
	case objectColon:
		if r.is(i, ':') {
			r.become(objectValue)
		}
	case objectValue:
		r.value(i, objectNext)
	case objectNext:
		r.afterMember(i)
	case arrayOpen:
		if r.is(i, ']') {
			r.closeWith(i)
			return
		}
		r.keep(i)
		r.value(i, arrayNext)
	case arrayComma:
		r.value(i, arrayNext)
	case arrayNext:
		r.afterElement(i)
	}
}

// value starts a value, after which the document goes on at next.
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
	case c == '-':
		r.become(next)
		r.push(inNumber)
		return
	case c >= '0' && c <= '9':
		inside = inNumber
	default:
		return
	}
	r.keep(i)
	r.become(next)
	r.push(inside)
}

func (r *repairer) afterMember(i int) {
	switch r.text[i] {
	case ',':
		r.become(objectComma)
	case '}':
		r.closeWith(i)
	}
}

func (r *repairer) afterElement(i int) {
	switch r.text[i] {
	case ',':
		r.become(arrayComma)
	case ']':
		r.closeWith(i)
	default:
		r.keep(i)
	}
}

// after handles the byte behind a number or word, which has just been left. Here
// an array keeps nothing that it does not expect.
func (r *repairer) after(i int) {
	switch c := r.text[i]; {
	case r.top() == objectNext:
		r.afterMember(i)
	case r.top() == arrayNext && (c == ',' || c == ']'):
		r.afterElement(i)
	}
}

func (r *repairer) stringByte(i int) {
	switch r.text[i] {
	case '"':
		r.closeWith(i)
	case '\\':
		r.push(inEscape)
	default:
		r.keep(i)
	}
}

func (r *repairer) escape(i int) {
	r.pop()
	if r.is(i, 'u') {
		r.hex = 0
		r.push(inUnicode)
		return
	}
	r.keep(i)
}

// unicode waits for four digits and passes over what is none.
func (r *repairer) unicode(i int) {
	if !strings.ContainsRune("0123456789abcdefABCDEF", rune(r.text[i])) {
		return
	}
	if r.hex++; r.hex == 4 {
		r.closeWith(i)
	}
}

func (r *repairer) number(i int) {
	switch c := r.text[i]; {
	case c >= '0' && c <= '9':
		r.keep(i)
	case c == 'e' || c == 'E' || c == '-' || c == '.':
	case c == ',' || c == '}' || c == ']':
		r.pop()
		r.after(i)
	default:
		r.pop()
	}
}

func (r *repairer) literal(i int) {
	if completion(r.text[r.word:i+1]) == "" {
		r.pop()
		r.after(i)
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

// complete closes everything that is open behind what is good.
func (r *repairer) complete() []byte {
	out := append(make([]byte, 0, r.good+len(r.open)+8), r.text[:r.good]...)
	for _, p := range slices.Backward(r.open) {
		switch p {
		case inString:
			out = append(out, '"')
		case objectOpen, objectComma, objectKey, objectColon, objectValue, objectNext:
			out = append(out, '}')
		case arrayOpen, arrayComma, arrayNext:
			out = append(out, ']')
		case inWord:
			part := r.text[r.word:]
			out = append(out, strings.TrimPrefix(completion(part), part)...)
		case atRoot, atEnd, inEscape, inUnicode, inNumber:
		}
	}
	return out
}
