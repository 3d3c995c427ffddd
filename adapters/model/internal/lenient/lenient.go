// Package lenient reads the JSON of model servers, which differ: a value of an unexpected type counts
// as absent. The JSON must be valid.
package lenient

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Valid reports whether data is JSON. The check of gjson is several times as fast, but its stack grows with the depth of
// nesting, until the process ends.
func Valid(data []byte) bool {
	if len(data) > 1<<20 {
		return json.Valid(data)
	}
	return gjson.ValidBytes(data)
}

// Object returns r if it is an object, or else an absent value. [gjson.Result.Get] would search
// the text of a string for an object.
func Object(r gjson.Result) gjson.Result {
	if r.IsObject() {
		return r
	}
	return gjson.Result{}
}

// Present reports whether a value exists and is not null.
func Present(r gjson.Result) bool { return r.Type != gjson.Null }

// Integer decodes a whole number.
func Integer(r gjson.Result) (n int, ok bool) {
	return int(r.Num), r.Type == gjson.Number && r.Num == math.Trunc(r.Num)
}

// Count decodes a number of tokens; other values give nil.
func Count(r gjson.Result) *int64 {
	if r.Type != gjson.Number || r.Num < 0 || r.Num > math.MaxInt32 {
		return nil
	}
	return new(int64(r.Num))
}

// String decodes a string; other values give an empty string. Escapes and invalid UTF-8 are left to
// the standard decoder, which uses the usual replacement characters.
func String(r gjson.Result) string {
	if r.Type != gjson.String {
		return ""
	}
	if strings.IndexByte(r.Raw, '\\') < 0 && utf8.ValidString(r.Raw) {
		return r.Str
	}
	var s string
	if json.Unmarshal([]byte(r.Raw), &s) != nil {
		return "" // Unreachable: the event was checked.
	}
	return s
}

// Text decodes a field that should be a string. Some servers send arguments as an object, whose
// JSON is then the text.
func Text(r gjson.Result) string {
	if r.Type == gjson.String || !Present(r) {
		return String(r)
	}
	return r.Raw
}
