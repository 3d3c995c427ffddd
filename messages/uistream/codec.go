package uistream

import (
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

//go:generate go run ../internal/codecgen

// AppendJSON appends a chunk as one line of JSON. The order of members is fixed
// and nothing is escaped that JSON does not ask for; nil is null.
func AppendJSON(dst []byte, chunk Chunk) []byte {
	switch c := chunk.(type) {
	case nil:
		return append(dst, "null"...)
	case Unknown:
		return rawjson.Append(dst, c.Raw)
	default:
		return appendChunk(dst, chunk)
	}
}

// DecodeChunk reads one chunk. Unknown members and chunks are kept. The error
// wraps a *uimessage.DecodeError. The result shares no memory with data.
func DecodeChunk(data []byte) (Chunk, error) {
	c, err := decodeChunk(data)
	if err != nil {
		return nil, fmt.Errorf("decode chunk: %w", err)
	}
	return c, nil
}

func decodeChunk(data []byte) (Chunk, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, &rawjson.Fault{Reason: err.Error()}
	}
	var r rawjson.Reader
	if !r.Object(data) {
		return nil, r.Err
	}
	name := rawjson.Text(data, "type")
	if rest, ok := strings.CutPrefix(name, prefixData); ok {
		c := Data{Name: rest}
		c.read(&r, data)
		return c, r.Err
	}
	if c := readChunk(&r, name, data); c != nil {
		return c, r.Err
	}
	return Unknown{Name: name, Raw: rawjson.Compact(data)}, nil
}
