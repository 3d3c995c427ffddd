package telegram

import (
	"encoding/json"
	"strings"
)

// richWords is what a rich message says, without its form: such a message has no
// text of its own. Nothing in it makes an update unreadable.
type richWords string

// UnmarshalJSON implements [json.Unmarshaler]. It also reads the words themselves, as
// they are written down.
func (w *richWords) UnmarshalJSON(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err // Unreachable: the decoder hands over whole values
	}
	var out strings.Builder
	writeWords(&out, v)
	*w = richWords(strings.TrimSpace(out.String()))
	return nil
}

// writeWords writes what people see of a part of a rich message: texts in their
// order, a line for each block, item and row. What has no words is left out.
func writeWords(out *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		out.WriteString(v)
	case []any:
		for _, x := range v {
			writeWords(out, x)
		}
	case map[string]any:
		if label, ok := v["label"].(string); ok {
			out.WriteString(label + " ")
		}
		for _, key := range []string{"summary", "text", "expression", "caption", "credit"} {
			writeWords(out, v[key])
		}
		for _, key := range []string{"blocks", "items", "cells"} {
			list, _ := v[key].([]any)
			for _, x := range list {
				if row, ok := x.([]any); ok {
					writeRow(out, row)
				} else {
					writeWords(out, x)
				}
				endLine(out)
			}
		}
	}
}

func writeRow(out *strings.Builder, cells []any) {
	for i, c := range cells {
		if i > 0 {
			out.WriteString(" | ")
		}
		writeWords(out, c)
	}
}

func endLine(out *strings.Builder) {
	if !strings.HasSuffix(out.String(), "\n") {
		out.WriteByte('\n')
	}
}
