package markup

import (
	"slices"
	"strings"
)

// maxEntities is how many ranges of a message Telegram formats. It shows what follows as plain
// text, and links without their URLs.
const maxEntities = 100

// telegramWriter writes a message and counts its formatted ranges.
type telegramWriter struct {
	strings.Builder

	entities int
}

// telegram renders blocks as the HTML that Telegram accepts: b, i, s, code, pre, a and blockquote,
// never nested where Telegram forbids it.
func telegram(blocks []leaf) string {
	var w telegramWriter
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
			w.entities++
		}
		quoted = q
		if l.kind == leafCode {
			w.entities++
			telegramCode(&w.Builder, l)
		} else {
			w.text(l)
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

// text writes a text. Telegram has only one level of quotes, so deeper ones keep their marks. A
// link that Telegram would not format is followed by its URL.
func (w *telegramWriter) text(l leaf) {
	prefix := strings.Repeat(quoteMark, max(0, min(l.quote, maxQuote)-1))
	escape(&w.Builder, prefix)
	lost := false
	for _, s := range l.spans {
		isAside := s.style&aside != 0
		if isAside && !lost {
			continue
		}
		if prefix != "" {
			s.text = strings.ReplaceAll(s.text, "\n", "\n"+prefix)
		}
		kept := w.span(s)
		lost = !isAside && s.href != "" && (lost || !kept)
	}
}

// span writes a span, and reports whether it has its formatting.
func (w *telegramWriter) span(s span) bool {
	tags := telegramTags(s)
	n := len(tags)
	if s.href != "" {
		n++
	}
	if w.entities+n > maxEntities {
		escape(&w.Builder, s.text)
		return n == 0
	}
	w.entities += n
	tagged(&w.Builder, s.href, tags, func() { escape(&w.Builder, s.text) })
	return true
}

// tagged writes a text within its tags, as a link if it has an address.
func tagged(w *strings.Builder, href string, tags []string, text func()) {
	if href != "" {
		w.WriteString(`<a href="`)
		escape(w, href)
		w.WriteString(`">`)
	}
	for _, t := range tags {
		w.WriteString("<" + t + ">")
	}
	text()
	for _, t := range slices.Backward(tags) {
		w.WriteString("</" + t + ">")
	}
	if href != "" {
		w.WriteString("</a>")
	}
}

// telegramTags returns the tags of a span, outermost first. Code is not combined with anything
// else.
func telegramTags(s span) []string {
	if s.style&code != 0 {
		if s.href != "" {
			return nil
		}
		return []string{"code"}
	}
	return s.style.named("b", "i", "s")
}

// escape writes text literally in HTML, also within a quoted attribute.
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
