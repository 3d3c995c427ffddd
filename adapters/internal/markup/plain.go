package markup

import "strings"

// plain renders blocks without markup.
func plain(blocks []leaf) string {
	if len(blocks) == 1 && blocks[0].kind == leafText && blocks[0].quote == 0 {
		return joined(blocks[0].spans)
	}
	var w strings.Builder
	for i, l := range blocks {
		prefix := strings.Repeat(quoteMark, min(l.quote, maxQuote))
		if i > 0 {
			gap(&w, l, min(l.quote, blocks[i-1].quote))
		}
		text := joined(l.spans)
		if l.kind == leafCode {
			text = fence + l.lang + "\n" + l.code + "\n" + fence
		}
		if prefix != "" {
			text = prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
		}
		w.WriteString(text)
	}
	return w.String()
}

// gap writes the gap before a block; the empty line between two quoted blocks is quoted too.
func gap(w *strings.Builder, l leaf, quote int) {
	w.WriteByte('\n')
	if l.blank {
		w.WriteString(strings.TrimRight(strings.Repeat(quoteMark, min(quote, maxQuote)), " "))
		w.WriteByte('\n')
	}
}
