package markup

import (
	"slices"
	"strings"
)

// telegram renders blocks as the HTML that Telegram takes: b, i, s, code, pre, a
// and blockquote, never nested where Telegram forbids it.
func telegram(blocks []leaf) string {
	var w strings.Builder
	quoted := false
	for i, l := range blocks {
		q := l.quote > 0
		if quoted && !q {
			w.WriteString("</blockquote>")
		}
		if i > 0 {
			w.WriteString(l.gap())
		}
		if q && !quoted {
			w.WriteString("<blockquote>")
		}
		quoted = q
		if l.kind == leafCode {
			telegramCode(&w, l)
		} else {
			telegramText(&w, l)
		}
	}
	if quoted {
		w.WriteString("</blockquote>")
	}
	return w.String()
}

func telegramCode(w *strings.Builder, l leaf) {
	w.WriteString("<pre>")
	if l.lang != "" {
		w.WriteString(`<code class="language-` + l.lang + `">`)
	}
	escape(w, l.code)
	if l.lang != "" {
		w.WriteString("</code>")
	}
	w.WriteString("</pre>")
}

// telegramText writes a text. Telegram knows one depth of quotes, so deeper ones
// keep their marks.
func telegramText(w *strings.Builder, l leaf) {
	prefix := strings.Repeat(quoteMark, max(0, min(l.quote, maxQuote)-1))
	escape(w, prefix)
	for _, s := range l.spans {
		if s.style&aside != 0 {
			continue
		}
		if prefix != "" {
			s.text = strings.ReplaceAll(s.text, "\n", "\n"+prefix)
		}
		telegramSpan(w, s)
	}
}

func telegramSpan(w *strings.Builder, s span) {
	tags := telegramTags(s)
	if s.href != "" {
		w.WriteString(`<a href="`)
		escape(w, s.href)
		w.WriteString(`">`)
	}
	for _, t := range tags {
		w.WriteString("<" + t + ">")
	}
	escape(w, s.text)
	for _, t := range slices.Backward(tags) {
		w.WriteString("</" + t + ">")
	}
	if s.href != "" {
		w.WriteString("</a>")
	}
}

// telegramTags are the tags of a span, outermost first. Code goes with nothing else.
func telegramTags(s span) []string {
	if s.style&code != 0 {
		if s.href != "" {
			return nil
		}
		return []string{"code"}
	}
	var tags []string
	if s.style&bold != 0 {
		tags = append(tags, "b")
	}
	if s.style&italic != 0 {
		tags = append(tags, "i")
	}
	if s.style&strike != 0 {
		tags = append(tags, "s")
	}
	return tags
}

// escape writes text so that it is text in HTML, also within a quoted attribute.
func escape(w *strings.Builder, s string) {
	last := 0
	for i := range len(s) {
		var esc string
		switch s[i] {
		case '&':
			esc = "&amp;"
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case '"':
			esc = "&quot;"
		default:
			continue
		}
		w.WriteString(s[last:i])
		w.WriteString(esc)
		last = i + 1
	}
	w.WriteString(s[last:])
}
