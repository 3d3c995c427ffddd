// Package rawjson reads and writes JSON as bytes: it checks a document once,
// walks objects and arrays without building values, and appends strings and raw
// values the way a stable, byte-exact codec needs them. Nothing is escaped that
// JSON itself does not ask for, and member order is kept.
//
// Everything here is pure and safe for concurrent use. Slices handed out point
// into the input.
package rawjson

import (
	"errors"
	"fmt"
	"iter"
)

// maxDepth bounds nesting, so that a hostile document cannot exhaust the stack.
const maxDepth = 10000

// errSyntax is the sentinel under every syntax fault.
var errSyntax = errors.New("invalid JSON")

// Kind is the type of a JSON value, which its first byte determines.
type Kind byte

// The kinds of values. None stands for an absent or empty value.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// KindOf returns the kind of a value that is known to be valid JSON.
func KindOf(v []byte) Kind {
	i := skipSpace(v, 0)
	if i >= len(v) {
		return None
	}
	switch v[i] {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return String
	case '[':
		return Array
	case '{':
		return Object
	default:
		return Number
	}
}

// Check reports whether b is exactly one valid JSON value; the error names the
// offset of the first fault.
func Check(b []byte) error {
	_, err := check(b)
	return err
}

// check also reports whether b has whitespace between its tokens.
func check(b []byte) (spaced bool, err error) {
	c := checker{b: b}
	i, err := c.value(c.space(0), 0)
	if err != nil {
		return false, err
	}
	if i = c.space(i); i != len(b) {
		return false, c.fault(i)
	}
	return c.spaced, nil
}

// Members walks the members of a valid object in order. Keys are unquoted;
// neither slice may be changed. A value that is not an object has no members.
func Members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		i := skipSpace(obj, 0)
		if i >= len(obj) || obj[i] != '{' {
			return
		}
		i = skipSpace(obj, i+1)
		for i < len(obj) && obj[i] == '"' {
			end := skipString(obj, i)
			key := unquoteBytes(obj[i:end])
			i = skipSpace(obj, end)
			i = skipSpace(obj, i+1) // the colon
			end = skipValue(obj, i)
			if !yield(key, obj[i:end]) {
				return
			}
			i = skipSpace(obj, end)
			if i >= len(obj) || obj[i] != ',' {
				return
			}
			i = skipSpace(obj, i+1)
		}
	}
}

// Elements walks the elements of a valid array in order. A value that is not an
// array has no elements.
func Elements(arr []byte) iter.Seq2[int, []byte] {
	return func(yield func(n int, v []byte) bool) {
		i := skipSpace(arr, 0)
		if i >= len(arr) || arr[i] != '[' {
			return
		}
		i = skipSpace(arr, i+1)
		for n := 0; i < len(arr) && arr[i] != ']'; n++ {
			end := skipValue(arr, i)
			if !yield(n, arr[i:end]) {
				return
			}
			i = skipSpace(arr, end)
			if i >= len(arr) || arr[i] != ',' {
				return
			}
			i = skipSpace(arr, i+1)
		}
	}
}

// Lookup returns the last member of a valid object with this name, as a
// JavaScript reader would see it.
func Lookup(obj []byte, name string) ([]byte, bool) {
	var found []byte
	ok := false
	for k, v := range Members(obj) {
		if string(k) == name {
			found, ok = v, true
		}
	}
	return found, ok
}

// NotNull returns the value, or nil if it is null.
func NotNull(v []byte) []byte {
	if KindOf(v) == Null {
		return nil
	}
	return v
}

// Text returns the string member with this name, or an empty one.
func Text(obj []byte, name string) string {
	v, _ := Lookup(obj, name)
	text, _ := Unquote(v)
	return text
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index after the valid value that starts at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

// checker is a strict recursive-descent reader of one document.
type checker struct {
	b      []byte
	spaced bool
}

func (c *checker) fault(i int) error {
	if i >= len(c.b) {
		return fmt.Errorf("%w: unexpected end", errSyntax)
	}
	return fmt.Errorf("%w: unexpected byte at offset %d", errSyntax, i)
}

func (c *checker) space(i int) int {
	j := skipSpace(c.b, i)
	c.spaced = c.spaced || j != i
	return j
}

func (c *checker) value(i, depth int) (int, error) {
	if i >= len(c.b) {
		return i, c.fault(i)
	}
	switch c.b[i] {
	case '"':
		return c.str(i)
	case '{':
		return c.container(i, depth+1, '}')
	case '[':
		return c.container(i, depth+1, ']')
	case 't':
		return c.literal(i, "true")
	case 'f':
		return c.literal(i, "false")
	case 'n':
		return c.literal(i, "null")
	default:
		return c.number(i)
	}
}

func (c *checker) literal(i int, word string) (int, error) {
	if len(c.b)-i < len(word) || string(c.b[i:i+len(word)]) != word {
		return i, c.fault(i)
	}
	return i + len(word), nil
}

// container reads an object or an array up to its closing byte.
func (c *checker) container(i, depth int, end byte) (int, error) {
	if depth > maxDepth {
		return i, fmt.Errorf("%w: nested deeper than %d", errSyntax, maxDepth)
	}
	i = c.space(i + 1)
	if i < len(c.b) && c.b[i] == end {
		return i + 1, nil
	}
	for {
		var err error
		if end == '}' {
			if i, err = c.name(i); err != nil {
				return i, err
			}
		}
		if i, err = c.value(i, depth); err != nil {
			return i, err
		}
		i = c.space(i)
		switch {
		case i < len(c.b) && c.b[i] == end:
			return i + 1, nil
		case i < len(c.b) && c.b[i] == ',':
			i = c.space(i + 1)
		default:
			return i, c.fault(i)
		}
	}
}

// name reads the name of a member and its colon.
func (c *checker) name(i int) (int, error) {
	if i >= len(c.b) || c.b[i] != '"' {
		return i, c.fault(i)
	}
	i, err := c.str(i)
	if err != nil {
		return i, err
	}
	if i = c.space(i); i >= len(c.b) || c.b[i] != ':' {
		return i, c.fault(i)
	}
	return c.space(i + 1), nil
}

func (c *checker) str(i int) (int, error) {
	b := c.b
	for i++; i < len(b); i++ {
		switch ch := b[i]; {
		case ch == '"':
			return i + 1, nil
		case ch < 0x20:
			return i, c.fault(i)
		case ch == '\\':
			i++
			if i >= len(b) {
				return i, c.fault(i)
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(b, i+1); !ok {
					return i, c.fault(i)
				}
				i += 4
			default:
				return i, c.fault(i)
			}
		}
	}
	return i, c.fault(i)
}

func (c *checker) number(i int) (int, error) {
	b := c.b
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = digits(b, i)
	default:
		return i, c.fault(i)
	}
	if i < len(b) && b[i] == '.' {
		if j := digits(b, i+1); j > i+1 {
			i = j
		} else {
			return j, c.fault(j)
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		j := digits(b, i)
		if j == i {
			return j, c.fault(j)
		}
		i = j
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
