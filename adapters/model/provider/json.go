package provider

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func appendString(dst []byte, s string) []byte { return modelmessage.AppendString(dst, s) }

// appendMember appends a comma and the name of a field.
func appendMember(dst []byte, name string) []byte {
	dst = append(dst, ',')
	dst = appendString(dst, name)
	return append(dst, ':')
}

// appendQuotedJSON appends valid JSON, without white space between its tokens, as one JSON string.
func appendQuotedJSON(dst []byte, raw json.RawMessage) []byte {
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
