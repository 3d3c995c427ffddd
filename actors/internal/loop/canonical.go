package loop

import (
	"bytes"
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
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
	out, err := plainjson.Append(nil, v)
	if err != nil {
		return raw // Unreachable: what was decoded encodes.
	}
	return out
}
