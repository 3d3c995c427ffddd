// Package quoted encodes untrusted content, such as files, names and pages, as JSON for a model.
// The JSON has exactly the given meaning. In addition, no text in it contains the marks that chat
// templates of models put between roles, because some servers interpret them anywhere.
package quoted

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// JSON encodes a value. Unlike [json.Marshal] it keeps angle brackets readable.
func JSON(v any) (json.RawMessage, error) {
	raw, err := plainjson.Append(nil, v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	text := string(raw)
	for _, m := range marks() {
		// The first character of a mark occurs only inside strings, never after the backslash of an
		// escape, so it can be replaced by an escape.
		text = strings.ReplaceAll(text, m, fmt.Sprintf(`\u%04x`, m[0])+m[1:])
	}
	return json.RawMessage(text), nil
}

// Len returns the maximum length of the JSON for a text.
func Len(s string) int {
	n := 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n', c == '\t', c == '\r', c == '"', c == '\\':
			n += 2
		case c < ' ', c == '<', c == '[' && i+1 < len(s) && (s[i+1] == 'I' || s[i+1] == '/'):
			n += 6
		case c >= 0x80: // two of them give six bytes for U+2028 and invalid UTF-8
			n += 3
		default:
			n++
		}
	}
	return n
}

// marks begin or end roles, turns and texts in the templates of common models.
func marks() []string {
	return []string{
		"<|", "<｜", "<s>", "</s>", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<<SYS>>", "<</SYS>>",
		"[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[AVAILABLE_TOOLS]",
	}
}
