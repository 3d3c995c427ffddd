package loop

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Canonical returns a JSON value with the members of its objects sorted by name and no space
// between its tokens, so that equal values have equal bytes. Numbers and strings do not change,
// except that needless escapes are removed. Invalid JSON is returned unchanged.
func Canonical(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return raw // Unreachable: what was decoded encodes.
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
