package markup

import "strings"

const (
	ansiReset  = "\x1b[0m"
	ansiBold   = "\x1b[1m"
	ansiDim    = "\x1b[2m"
	ansiItalic = "\x1b[3m"
	ansiUnder  = "\x1b[4m"
	ansiStrike = "\x1b[9m"
	ansiCyan   = "\x1b[36m"
	ansiQuote  = "│ "
	ansiIndent = "  "
)

// ANSI renders a text for a terminal. Escape sequences in the text have no effect.
func (r *Renderer) ANSI(src string) string {
	var w strings.Builder
	for i, l := range r.blocks(src) {
		if i > 0 {
			w.WriteString(l.gap())
		}
		text := ansiText(l.spans)
		if l.kind == leafCode {
			text = ansiIndent + ansiCyan + strings.ReplaceAll(l.code, "\n", ansiReset+"\n"+ansiIndent+ansiCyan) + ansiReset
		}
		if l.quote > 0 {
			prefix := ansiDim + strings.Repeat(ansiQuote, min(l.quote, maxQuote)) + ansiReset
			text = prefix + strings.ReplaceAll(text, "\n", "\n"+prefix)
		}
		w.WriteString(text)
	}
	return w.String()
}

func ansiText(spans []span) string {
	var w strings.Builder
	for _, s := range spans {
		on := ansiStyle(s)
		if on == "" {
			w.WriteString(s.text)
			continue
		}
		// Each line has its own style, so that prefixes are not styled.
		for i, line := range strings.Split(s.text, "\n") {
			if i > 0 {
				w.WriteByte('\n')
			}
			w.WriteString(on + line + ansiReset)
		}
	}
	return w.String()
}

func ansiStyle(s span) string {
	var on strings.Builder
	for _, x := range []struct {
		set  style
		code string
	}{{bold, ansiBold}, {italic, ansiItalic}, {strike, ansiStrike}, {code, ansiCyan}, {aside, ansiDim}} {
		if s.style&x.set != 0 {
			on.WriteString(x.code)
		}
	}
	if s.href != "" {
		on.WriteString(ansiUnder)
	}
	return on.String()
}
