package webfetch

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxLink is the longest address of a link that is kept, in bytes.
	maxLink = 500
	// maxOut bounds the text of a page, which can be longer than the page.
	maxOut = 2 * maxBody
	// maxInside is how many quotations and lists inside of each other are shown as
	// such, and maxTables how many tables.
	maxInside = 8
	maxTables = 2
)

// pageText is a page as people read it, close to Markdown: no scripts, no styles,
// nothing that is hidden.
func pageText(source string, base *url.URL) (title, text string) {
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return "", stripped(source) // too deeply nested, for one
	}
	w := writer{base: base}
	w.node(doc)
	return w.title, w.text()
}

// writer collects the text of a page.
type writer struct {
	out   strings.Builder
	base  *url.URL
	title string
	// prefix begins each line: of quotations and lists.
	prefix []string
	marker string // of a list's item whose text has not begun
	line   bool   // the line holds something
	breaks int    // owed before the next text
	space  bool   // owed before the next word
	pre    int
	lists  []int // numbers of ordered lists; -1: bullets
	tables int   // that the text is inside of
	begun  bool
}

func (w *writer) text() string { return strings.TrimSpace(w.out.String()) }

// owe asks for line breaks before what follows.
func (w *writer) owe(n int) {
	w.space = false
	w.breaks = max(w.breaks, n)
}

// put writes a piece of a line.
func (w *writer) put(s string) {
	if s == "" || w.out.Len() > maxOut {
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
	if w.marker != "" { // of what was entered last
		prefix = strings.Join(w.prefix[:len(w.prefix)-1], "") + w.marker
		w.marker = ""
	}
	w.out.WriteString(prefix)
}

// words writes text with its blanks folded.
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

// visible drops what cannot be seen and would only hide something.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\f' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

func (w *writer) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.words(n.Data)
	case html.ElementNode:
		w.element(n)
	case html.DocumentNode:
		w.children(n)
	default: // comments and the like
	}
}

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

func (w *writer) element(n *html.Node) {
	if hidden(n) {
		return
	}
	switch n.DataAtom {
	case atom.Head:
		w.head(n)
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Embed,
		atom.Canvas, atom.Select, atom.Button, atom.Input, atom.Textarea, atom.Dialog:
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.owe(2)
		level, _ := strconv.Atoi(n.Data[1:])
		w.marked(strings.Repeat("#", level)+" ", "", n)
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
		if alt := strings.TrimSpace(visible(attr(n, "alt"))); alt != "" {
			w.words("[image: " + alt + "]")
		}
	case atom.Code:
		w.code(n)
	default:
		w.block(n)
	}
}

// block is for elements that begin lines, and for those that mean nothing here.
func (w *writer) block(n *html.Node) {
	switch n.DataAtom {
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

// head has the title, and perhaps where links begin.
func (w *writer) head(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Title:
			w.title = strings.Join(strings.Fields(visible(content(c))), " ")
		case atom.Base:
			if u, err := w.base.Parse(attr(c, "href")); err == nil {
				w.base = u
			}
		default:
		}
	}
}

func (w *writer) within(prefix string, n *html.Node) {
	if len(w.prefix) >= maxInside {
		prefix = ""
	}
	w.prefix = append(w.prefix, prefix)
	w.children(n)
	w.prefix = w.prefix[:len(w.prefix)-1]
}

func (w *writer) list(n *html.Node) {
	start := -1
	if n.DataAtom == atom.Ol {
		start = 1
		if s, err := strconv.Atoi(attr(n, "start")); err == nil && s >= 0 && s < 1_000_000 {
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

func (w *writer) item(n *html.Node) {
	w.owe(1)
	marker := "- "
	if last := len(w.lists) - 1; last >= 0 && w.lists[last] >= 0 {
		marker = strconv.Itoa(w.lists[last]) + ". "
		w.lists[last]++
	}
	w.marked(marker, strings.Repeat(" ", len(marker)), n)
	w.owe(1)
}

// marked begins the first line of what is inside of a node with a marker, if there
// is one.
func (w *writer) marked(marker, prefix string, n *html.Node) {
	before := w.marker
	w.marker = marker
	w.within(prefix, n)
	if w.marker != "" {
		w.marker = before
	}
}

// link keeps the words and where they lead.
func (w *writer) link(n *html.Node) {
	href := strings.TrimSpace(attr(n, "href"))
	u, err := w.base.Parse(href)
	words := strings.TrimSpace(content(n))
	if href == "" || err != nil || strings.HasPrefix(href, "#") || u.Scheme != "http" && u.Scheme != "https" || words == "" || len(u.String()) > maxLink {
		w.children(n)
		return
	}
	u.User = nil
	to := strings.NewReplacer("(", "%28", ")", "%29").Replace(u.String())
	if blocky(n) {
		w.children(n)
		w.words(" (" + to + ")")
		return
	}
	w.words(lead(content(n)) + "[" + strings.Join(strings.Fields(visible(words)), " ") + "](" + to + ")")
	if trail := content(n); trail != "" && isBlank(trail[len(trail)-1]) {
		w.space = true
	}
}

func lead(s string) string {
	if s != "" && isBlank(s[0]) {
		return " "
	}
	return ""
}

// blocky reports whether more than words are inside of a link.
func blocky(n *html.Node) bool {
	for c := range n.Descendants() {
		switch c.DataAtom {
		case atom.Div, atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Table, atom.Img, atom.Pre:
			return true
		default:
		}
		if c.Type == html.ElementNode && hidden(c) {
			return true
		}
	}
	return false
}

func (w *writer) code(n *html.Node) {
	text := strings.TrimSpace(visible(content(n)))
	if w.pre > 0 || text == "" || strings.ContainsAny(text, "`\n") {
		w.children(n)
		return
	}
	w.words("`" + text + "`")
}

// table writes rows; tables inside of cells are flattened.
func (w *writer) table(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || hidden(c) {
			continue
		}
		switch c.DataAtom {
		case atom.Tr:
			w.row(c)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			w.table(c)
		default:
			w.element(c)
		}
	}
}

func (w *writer) row(n *html.Node) {
	var cells []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if (c.DataAtom == atom.Td || c.DataAtom == atom.Th) && !hidden(c) {
			cells = append(cells, c)
		}
	}
	w.owe(1)
	if len(cells) == 1 || w.tables >= maxTables { // a layout, not a table
		for _, c := range cells {
			w.children(c)
			w.owe(1)
		}
		return
	}
	var line strings.Builder
	for _, c := range cells {
		inner := writer{base: w.base, tables: w.tables + 1}
		inner.children(c)
		line.WriteString("| " + strings.ReplaceAll(strings.Join(strings.Fields(inner.text()), " "), "|", "\\|") + " ")
	}
	if line.Len() > 0 {
		w.put(line.String() + "|")
	}
	w.owe(1)
}

// hidden reports whether people would not see an element.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if strings.EqualFold(a.Val, "true") {
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			for _, s := range []string{"display:none", "visibility:hidden", "visibility:collapse", "font-size:0", "opacity:0;", "text-indent:-9"} {
				if strings.Contains(style+";", s) && !strings.Contains(style+";", "font-size:0.") {
					return true
				}
			}
		}
	}
	return false
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// content is all text inside of a node that is not hidden.
func content(n *html.Node) string {
	var out strings.Builder
	var add func(*html.Node)
	add = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				out.WriteString(c.Data)
			case c.Type == html.ElementNode && !hidden(c) && c.DataAtom != atom.Script && c.DataAtom != atom.Style:
				add(c)
			}
		}
	}
	add(n)
	return out.String()
}

// stripped is the text of a page that cannot be read as a tree: all that stands
// between its tags.
func stripped(source string) string {
	var out strings.Builder
	z, skip := html.NewTokenizer(strings.NewReader(source)), 0
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return strings.Join(strings.Fields(visible(out.String())), " ")
		case html.TextToken:
			if skip == 0 {
				out.Write(z.Text())
				out.WriteByte(' ')
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			if tag := string(name); tag == "script" || tag == "style" {
				if kind == html.StartTagToken {
					skip++
				} else {
					skip = max(0, skip-1)
				}
			}
		default:
		}
	}
}
