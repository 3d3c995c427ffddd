// Package rawjson reads and writes JSON as bytes: it checks a document once,
// walks objects and arrays without building values, and appends strings and raw
// values the way a stable, byte-exact codec needs them. Nothing is escaped that
// JSON itself does not ask for, and member order is kept.
//
// Everything here is pure and safe for concurrent use. Slices handed out point
// into the input.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// maxDepth bounds nesting, so that a hostile document cannot exhaust the stack. It is the bound of the
// standard library.
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

// Valid reports whether b is exactly one valid JSON value.
func Valid(b []byte) bool {
	if bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) > maxDepth {
		return json.Valid(b)
	}
	return gjson.ValidBytes(b) // it is faster, but does not bound nesting
}

// Check is Valid with an error that names the offset of the first fault.
func Check(b []byte) error {
	if Valid(b) {
		return nil
	}
	err := json.Unmarshal(b, new(json.RawMessage))
	fault, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return err
	case strings.HasPrefix(fault.Error(), "unexpected end"):
		return fmt.Errorf("%w: unexpected end", errSyntax)
	case strings.HasSuffix(fault.Error(), "exceeded max depth"):
		return fmt.Errorf("%w: nested deeper than %d", errSyntax, maxDepth)
	}
	return fmt.Errorf("%w: unexpected byte at offset %d", errSyntax, fault.Offset-1)
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
