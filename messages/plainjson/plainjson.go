// Package plainjson encodes JSON as people and other programs expect to read it: in one
// line, and without the escapes that encoding/json writes for HTML.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Append appends the encoding of v to dst. A value that cannot be encoded leaves dst as it
// is.
func Append(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
