package protocol

import (
	"encoding/json"
	"time"

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

// ResponseMetadata returns what [model.EventResponseMetadata] says of an answer. Empty values are left
// out; created is in seconds.
func ResponseMetadata(id, name string, created float64) json.RawMessage {
	at := ""
	if created > 0 && created < 1e11 {
		at = time.UnixMilli(int64(created * 1000)).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	raw := []byte{'{'}
	for _, m := range [][2]string{{"id", id}, {"modelId", name}, {"timestamp", at}} {
		if m[1] == "" {
			continue
		}
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw = AppendString(append(AppendString(raw, m[0]), ':'), m[1])
	}
	return append(raw, '}')
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

// AppendList appends a list of what each appends.
func AppendList[T any](dst []byte, list []T, each func(dst []byte, item T) []byte) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = each(dst, item)
	}
	return append(dst, ']')
}
