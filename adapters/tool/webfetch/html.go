package webfetch

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

const (
	// maxLink is the maximum length of a link that is kept, in bytes.
	maxLink = 500
	// maxOut bounds the text of a page, which can be longer than the page.
	maxOut = maxHTML + maxHTML/2
	// maxInline is the maximum length of a link text or inline code, in bytes.
	maxInline = 4 << 10
	// maxInside is the maximum depth of nested quotations and lists that is shown, and maxTables that of tables.
	maxInside = 8
	maxTables = 2
)

// pageText converts a page to text close to Markdown, without scripts, styles and hidden content. cut reports that
// the page has more than that.
func pageText(source string, base *url.URL) (title, text string, cut bool) {
	root, cut := parseTree(source)
	w := writer{base: base}
	w.children(root)
	return w.title, w.text(), cut || w.full
}

// writer collects the text of a page.
type writer struct {
	out   strings.Builder
	base  *url.URL
	title string
	// prefix are the line prefixes of quotations and lists.
	prefix []string
	marker string // of a list item whose text has not started
	line   bool   // the current line is not empty
	breaks int    // line breaks needed before the next text
	space  bool   // space needed before the next word
	pre    int
	lists  []int // counters of ordered lists; -1 for bullets
	tables int   // depth of nested tables
	begun  bool
	full   bool // the limit of the output is reached
}

func (w *writer) text() string { return strings.TrimSpace(w.out.String()) }

// owe requests line breaks before the next text.
func (w *writer) owe(n int) {
	w.space = false
	w.breaks = max(w.breaks, n)
}

// put writes a part of a line.
func (w *writer) put(s string) {
	if w.out.Len() > maxOut {
		w.full = true
	}
	if s == "" || w.full {
		return
	}
	if w.breaks > 0 && w.begun {
		if w.line {
			w.out.WriteByte('\n')
		}
		if w.breaks > 1 {
			w.out.WriteString(strings.TrimRight(strings.Join(w.prefix, ""), " ") + "\n")
		}
		w.line = false
	}
	w.breaks = 0
	if !w.line {
		w.indent()
	} else if w.space {
		w.out.WriteByte(' ')
	}
	w.out.WriteString(s)
	w.space, w.line, w.begun = false, true, true
}

func (w *writer) indent() {
	prefix := strings.Join(w.prefix, "")
	if w.marker != "" { // of the innermost element
		prefix = strings.Join(w.prefix[:len(w.prefix)-1], "") + w.marker
		w.marker = ""
	}
	w.out.WriteString(prefix)
}

// words writes text with its whitespace collapsed.
func (w *writer) words(s string) {
	if w.pre > 0 {
		for i, l := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
			if i > 0 {
				w.owe(min(w.breaks+1, 2))
			}
			w.put(visible(l))
		}
		return
	}
	s = visible(s)
	if s != "" && isBlank(s[0]) {
		w.space = true
	}
	for word := range strings.FieldsSeq(s) {
		w.put(word)
		w.space = true
	}
	if s != "" && !isBlank(s[len(s)-1]) {
		w.space = false
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// visible removes invisible characters, which could only hide something.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\f' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

func (w *writer) node(n *node) {
	switch {
	case n.tag == 0:
		w.words(n.data)
	case !n.hidden:
		w.element(n)
	}
}

func (w *writer) children(n *node) {
	for c := n.first; c != nil && !w.full; c = c.next {
		w.node(c)
	}
}

func (w *writer) element(n *node) {
	switch n.tag {
	case atom.Head:
		w.head(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.owe(2)
		w.marked(strings.Repeat("#", level(n.tag))+" ", "", n)
		w.owe(2)
	case atom.Br:
		w.owe(1)
	case atom.Hr:
		w.owe(2)
		w.put("---")
		w.owe(2)
	case atom.A:
		w.link(n)
	case atom.Img:
		if alt := strings.TrimSpace(visible(n.data)); alt != "" {
			w.words("[image: " + alt + "]")
		}
	case atom.Code:
		w.code(n)
	default:
		w.block(n)
	}
}

// block writes elements that start new lines, and elements without a special meaning.
func (w *writer) block(n *node) {
	switch n.tag {
	case atom.P, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Figure,
		atom.Form, atom.Fieldset, atom.Dl, atom.Details, atom.Address:
		w.owe(2)
		w.children(n)
		w.owe(2)
	case atom.Div, atom.Dt, atom.Dd, atom.Figcaption, atom.Summary, atom.Caption, atom.Legend, atom.Option, atom.Body:
		w.owe(1)
		w.children(n)
		w.owe(1)
	case atom.Blockquote:
		w.owe(2)
		w.within("> ", n)
		w.owe(2)
	case atom.Pre:
		w.owe(2)
		w.put("```")
		w.owe(1)
		w.pre++
		w.children(n)
		w.pre--
		w.owe(1)
		w.put("```")
		w.owe(2)
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Li:
		w.item(n)
	case atom.Table:
		w.owe(2)
		w.table(n)
		w.owe(2)
	default:
		w.children(n)
	}
}

// head reads the title and the base URL.
func (w *writer) head(n *node) {
	for c := n.first; c != nil; c = c.next {
		switch c.tag {
		case atom.Title:
			w.title = ""
			if c.first != nil {
				w.title = strings.Join(strings.Fields(visible(c.first.data)), " ")
			}
		case atom.Base:
			if u, err := w.base.Parse(c.data); err == nil {
				w.base = u
			}
		default:
		}
	}
}

func (w *writer) within(prefix string, n *node) {
	if len(w.prefix) >= maxInside {
		prefix = ""
	}
	w.prefix = append(w.prefix, prefix)
	w.children(n)
	w.prefix = w.prefix[:len(w.prefix)-1]
}

func (w *writer) list(n *node) {
	start := -1
	if n.tag == atom.Ol {
		start = 1
		if s, err := strconv.Atoi(n.data); err == nil && s >= 0 && s < 1_000_000 {
			start = s
		}
	}
	if len(w.lists) == 0 {
		w.owe(2)
	} else {
		w.owe(1)
	}
	w.lists = append(w.lists, start)
	w.children(n)
	w.lists = w.lists[:len(w.lists)-1]
	if len(w.lists) == 0 {
		w.owe(2)
	} else {
		w.owe(1)
	}
}

func (w *writer) item(n *node) {
	w.owe(1)
	marker := "- "
	if last := len(w.lists) - 1; last >= 0 && w.lists[last] >= 0 {
		marker = strconv.Itoa(w.lists[last]) + ". "
		w.lists[last]++
	}
	w.marked(marker, strings.Repeat(" ", len(marker)), n)
	w.owe(1)
}

// marked writes the content of a node, with a marker at the start of its first line if it has one.
func (w *writer) marked(marker, prefix string, n *node) {
	before := w.marker
	w.marker = marker
	w.within(prefix, n)
	if w.marker != "" {
		w.marker = before
	}
}

// link writes the text and the target of a link.
func (w *writer) link(n *node) {
	href := strings.TrimSpace(n.data)
	u, err := w.base.Parse(href)
	text, inline := content(n)
	words := strings.TrimSpace(text)
	if href == "" || err != nil || strings.HasPrefix(href, "#") || u.Scheme != "http" && u.Scheme != "https" || inline && words == "" || len(u.String()) > maxLink {
		w.children(n)
		return
	}
	u.User = nil
	to := strings.ReplaceAll(strings.ReplaceAll(u.String(), "(", "%28"), ")", "%29")
	if !inline || blocky(n) {
		w.children(n)
		w.words(" (" + to + ")")
		return
	}
	w.words(lead(text) + "[" + strings.Join(strings.Fields(visible(words)), " ") + "](" + to + ")")
	if isBlank(text[len(text)-1]) {
		w.space = true
	}
}

func lead(s string) string {
	if s != "" && isBlank(s[0]) {
		return " "
	}
	return ""
}

// blocky reports whether a link contains more than inline text.
func blocky(n *node) bool {
	for c := n.first; c != nil; c = c.next {
		switch c.tag {
		case atom.Div, atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Table, atom.Img, atom.Pre:
			return true
		default:
		}
		if c.hidden || blocky(c) {
			return true
		}
	}
	return false
}

func (w *writer) code(n *node) {
	text, inline := content(n)
	text = strings.TrimSpace(visible(text))
	if w.pre > 0 || !inline || text == "" || strings.ContainsAny(text, "`\n") {
		w.children(n)
		return
	}
	w.words("`" + text + "`")
}

// table writes rows; tables nested in cells are flattened.
func (w *writer) table(n *node) {
	for c := n.first; c != nil; c = c.next {
		if c.tag == 0 || c.hidden {
			continue
		}
		switch c.tag {
		case atom.Tr:
			w.row(c)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			w.table(c)
		default:
			w.element(c)
		}
	}
}

func (w *writer) row(n *node) {
	var cells []*node
	for c := n.first; c != nil; c = c.next {
		if c.tag == atom.Td || c.tag == atom.Th {
			cells = append(cells, c)
		}
	}
	w.owe(1)
	if len(cells) == 1 || w.tables >= maxTables { // a layout table
		for _, c := range cells {
			w.children(c)
			w.owe(1)
		}
		return
	}
	var line strings.Builder
	full := false
	for _, c := range cells {
		inner := writer{base: w.base, tables: w.tables + 1}
		inner.children(c)
		if full = inner.full || line.Len()+inner.out.Len() > maxOut; full {
			break
		}
		line.WriteString("| " + strings.ReplaceAll(strings.Join(strings.Fields(inner.text()), " "), "|", "\\|") + " ")
	}
	if line.Len() > 0 {
		w.put(line.String() + "|")
	}
	w.full = w.full || full
	w.owe(1)
}

// content returns all text in a node, if it is short enough for inline use.
func content(n *node) (text string, ok bool) {
	var out strings.Builder
	ok = collect(&out, n)
	return out.String(), ok
}

// collect writes all text in a node until the limit is reached.
func collect(out *strings.Builder, n *node) bool {
	for c := n.first; c != nil; c = c.next {
		if c.tag == 0 {
			if out.Len()+len(c.data) > maxInline {
				return false
			}
			out.WriteString(c.data)
		}
		if !collect(out, c) {
			return false
		}
	}
	return true
}
