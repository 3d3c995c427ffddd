package wire

import (
	"encoding/json"
	"strings"
)

// RichWords is the plain text of a rich message, which has no text field of its own. No content of
// it makes an update undecodable.
type RichWords string

// UnmarshalJSON implements [json.Unmarshaler]. It also accepts a plain string, the form in which it
// is encoded.
func (w *RichWords) UnmarshalJSON(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err // Unreachable: the decoder passes complete values
	}
	var out strings.Builder
	writeWords(&out, v)
	*w = RichWords(strings.TrimSpace(out.String()))
	return nil
}

// writeWords writes the visible text of a part of a rich message: texts in order, one line for each
// block, item and row. Anything without text is omitted.
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
