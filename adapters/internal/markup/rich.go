package markup

import (
	"slices"
	"strconv"
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"
)

const (
	// maxRichBlocks, maxRichDepth and maxRichColumns keep a part within the limits of Telegram's
	// rich messages: 500 blocks, 16 levels, 20 columns.
	maxRichBlocks  = 400
	maxRichDepth   = 10
	maxRichColumns = 20
)

// SplitRich is [Renderer.Split] with an additional rich form of each part that benefits from it:
// the HTML of Telegram's rich messages, with headings, lists, rules and tables.
//
// It is rendered from the tree, like all other formats, and not sent as the original Markdown: the
// server would also interpret HTML, picture URLs, mentions and buttons in that, and decide itself
// what is code. Here every character that people may have written is text, a picture is a link, and
// the only URLs are those of links.
func (r *Renderer) SplitRich(src string, lim Limits) []Part {
	return r.split(src, lim, telegram, rich)
}

// rich renders blocks as a rich message. It is empty if it would show no more than the text, or
// exceeds the limits.
func rich(blocks []leaf) string {
	if !slices.ContainsFunc(blocks, leaf.gains) || !slices.ContainsFunc(blocks, leaf.shown) {
		return ""
	}
	w := &richWriter{}
	for _, l := range blocks {
		if len(l.inside) > maxRichDepth {
			return ""
		}
		w.leaf(l)
	}
	w.leave(0)
	if w.blocks > maxRichBlocks {
		return ""
	}
	return w.out.String()
}

// gains reports whether a rich message shows more of a block than its text.
func (l leaf) gains() bool { return l.rule || len(l.inside) > 0 || l.formatted() }

type richWriter struct {
	out    strings.Builder
	open   []container
	blocks int
}

func (w *richWriter) leaf(l leaf) {
	shared := 0
	for shared < min(len(w.open), len(l.inside)) && w.open[shared] == l.inside[shared] {
		shared++
	}
	w.leave(shared)
	first := shared < len(l.inside)
	for _, c := range l.inside[shared:] {
		w.enter(c)
	}
	w.blocks++
	switch {
	case l.rule:
		w.out.WriteString("<hr/>")
	case l.rows != nil && columns(l.rows) <= maxRichColumns:
		w.table(l.rows)
	case l.kind == leafCode:
		telegramCode(&w.out, l)
	default:
		w.text(l, first)
	}
}

func (w *richWriter) enter(c container) {
	w.open = append(w.open, c)
	w.blocks++
	w.out.WriteString("<" + c.kind.tag())
	if c.n > 0 {
		w.out.WriteString(` value="` + strconv.Itoa(c.n) + `"`)
	}
	w.out.WriteString(">")
}

func (k containerKind) tag() string { return [...]string{"blockquote", "ul", "ol", "li"}[k] }

// leave closes all containers but the outermost n.
func (w *richWriter) leave(n int) {
	for _, c := range slices.Backward(w.open[n:]) {
		w.out.WriteString("</" + c.kind.tag() + ">")
	}
	w.open = w.open[:n]
}

// text writes a heading or a paragraph. The first text of an item or a quote has no paragraph tag.
func (w *richWriter) text(l leaf, first bool) {
	_, spans := cutSpans(l.spans, min(l.lead, len(joined(l.spans))))
	tags := []string{"p"}
	switch {
	case !visible(joined(spans)):
		return
	case l.heading > 0:
		tags[0] = "h" + strconv.Itoa(min(l.heading, 6))
	case first:
		tags = nil
	}
	tagged(&w.out, "", tags, func() {
		for _, s := range spans {
			if l.heading > 0 {
				s.style &^= bold
			}
			w.span(s, l.indent)
		}
	})
}

func (w *richWriter) span(s span, indent int) {
	if s.style&aside != 0 {
		return
	}
	tagged(&w.out, s.href, telegramTags(s), func() { w.lines(s.text, indent) })
}

// lines writes text in which line breaks and the spaces after them are preserved, except for those
// of a list's indent.
func (w *richWriter) lines(text string, indent int) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.out.WriteString("<br>")
			bare := strings.TrimLeft(line, " ")
			spaces := max(0, len(line)-len(bare)-indent)
			w.out.WriteString(strings.Repeat("&nbsp;", spaces))
			line = bare
		}
		escape(&w.out, line)
	}
}

func columns(rows []tableRow) int {
	n := 0
	for _, r := range rows {
		n = max(n, len(r))
	}
	return n
}

func (w *richWriter) table(rows []tableRow) {
	w.out.WriteString("<table bordered>")
	for i, row := range rows {
		w.blocks++
		w.out.WriteString("<tr>")
		for _, c := range row {
			w.cell(c, i == 0)
		}
		w.out.WriteString("</tr>")
	}
	w.out.WriteString("</table>")
}

func (w *richWriter) cell(c cell, head bool) {
	tag, attrs := "td", ""
	if head {
		tag = "th"
	} else {
		switch c.align {
		case extast.AlignCenter:
			attrs = ` align="center"`
		case extast.AlignRight:
			attrs = ` align="right"`
		case extast.AlignLeft, extast.AlignNone:
		}
	}
	w.out.WriteString("<" + tag + attrs + ">")
	for _, s := range c.spans {
		s.text = strings.ReplaceAll(s.text, "\n", " ")
		w.span(s, 0)
	}
	w.out.WriteString("</" + tag + ">")
}
