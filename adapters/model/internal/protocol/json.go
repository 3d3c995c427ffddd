package protocol

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// DeniedText is what a model reads if a person denied a call without a reason, and EmptyResult
// replaces a tool result without content, which some services refuse.
const (
	DeniedText  = "Tool call execution denied."
	EmptyResult = "(empty result)"
)

// IsNull reports whether a value is absent or null.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// AppendString appends a text as a JSON string.
func AppendString(dst []byte, s string) []byte { return modelmessage.AppendString(dst, s) }

// AppendMember appends a comma and the name of a field.
func AppendMember(dst []byte, name string) []byte {
	dst = append(dst, ',')
	dst = AppendString(dst, name)
	return append(dst, ':')
}

// AppendQuotedJSON appends valid JSON, without white space between its tokens, as one JSON string.
func AppendQuotedJSON(dst []byte, raw json.RawMessage) []byte {
	dst = append(dst, '"')
	inString, start := false, 0
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw):
			dst = append(append(dst, raw[start:i]...), '\\', '\\')
			i++
			start = i
			if raw[i] == '"' || raw[i] == '\\' {
				dst = append(dst, '\\', raw[i])
				start = i + 1
			}
		case c == '"':
			inString = !inString
			dst = append(append(dst, raw[start:i]...), '\\', '"')
			start = i + 1
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			dst = append(dst, raw[start:i]...)
			start = i + 1
		}
	}
	dst = append(dst, raw[start:]...)
	return append(dst, '"')
}
