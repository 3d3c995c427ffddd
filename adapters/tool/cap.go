package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// DefaultLimit is how much of a result is passed to the model, in bytes of JSON.
const DefaultLimit = 16 << 10

// minLimit leaves room for the fields of a capped result.
const minLimit = 1 << 10

// Keep stores the full text of a result that is too large, and returns a pointer that the model can pass to a reading
// tool. The name is unique among the results of a run.
type Keep func(ctx context.Context, name string, data []byte) (pointer string, err error)

// Cap limits the size of results for the model. The zero value caps at [DefaultLimit] and stores nothing.
type Cap struct {
	Limit int // bytes of JSON; at least 1 KiB, 0 means [DefaultLimit]
	Keep  Keep
}

// capped replaces a result that is too large. Head and Tail are the beginning and the end of the text: of the string
// itself if the result is a string, otherwise of its JSON.
type capped struct {
	Truncated bool   `json:"truncated"`
	Bytes     int    `json:"bytes"`
	Head      string `json:"head"`
	Tail      string `json:"tail"`
	Whole     string `json:"whole,omitempty"`
	Note      string `json:"note"`
}

// Apply returns the output, or its replacement if it is too large. The result is always valid JSON within the limit,
// even if the output is not JSON. An error means that the full output could not be stored; the result says so as
// well.
func (c Cap) Apply(ctx context.Context, name string, output json.RawMessage) (json.RawMessage, error) {
	limit := c.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	limit = max(limit, minLimit)
	output = valid(output)
	if len(output) <= limit {
		return output, nil
	}
	text := string(output)
	if output[0] == '"' {
		_ = json.Unmarshal(output, &text) // it is valid; on an error text stays the JSON
	}
	short := capped{Truncated: true, Bytes: len(text), Note: "Only the beginning and the end are shown."}
	err := c.keep(ctx, name, text, &short)
	room := limit - len(encode(short))
	short.Head = fit(text, room*2/3)
	short.Tail = fitEnd(text[len(short.Head):], room-encodedLen(short.Head))
	return encode(short), err
}

func (c Cap) keep(ctx context.Context, name, text string, short *capped) error {
	if c.Keep == nil {
		return nil
	}
	pointer, err := c.Keep(ctx, name, []byte(text))
	if err != nil {
		short.Note += " The rest could not be stored."
		return fmt.Errorf("keep the whole result %s: %w", name, err)
	}
	if encodedLen(pointer) > minLimit/2 {
		return fmt.Errorf("keep the whole result %s: its pointer has %d bytes", name, len(pointer))
	}
	short.Whole, short.Note = pointer, short.Note+" The whole is stored under the name in whole."
	return nil
}

// valid returns the output, or a JSON string of it if it is not valid JSON.
func valid(output json.RawMessage) json.RawMessage {
	output = bytes.TrimSpace(output)
	switch {
	case len(output) == 0:
		return json.RawMessage("null")
	case json.Valid(output) && utf8.Valid(output):
		return output
	default:
		return encode(string(output))
	}
}

// encode returns the JSON of v without escaping HTML. v must be encodable.
func encode(v any) json.RawMessage {
	raw, err := plainjson.Append(nil, v)
	if err != nil { // Unreachable: all callers pass strings, or structs of strings and numbers
		return json.RawMessage("null")
	}
	return raw
}

// fit is the longest prefix of s whose JSON has at most room bytes.
func fit(s string, room int) string {
	end := 0
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if room -= runeLen(r, n); room < 0 {
			break
		}
		end += n
	}
	return s[:end]
}

// fitEnd is the longest suffix of s whose JSON has at most room bytes.
func fitEnd(s string, room int) string {
	start := len(s)
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if room -= runeLen(r, n); room < 0 {
			break
		}
		start -= n
	}
	return s[start:]
}

func encodedLen(s string) int {
	total := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		total += runeLen(r, n)
		i += n
	}
	return total
}

// runeLen is how many bytes a rune takes in JSON.
func runeLen(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError && n == 1:
		return 6
	default:
		return n
	}
}
