package webfetch

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

const (
	// maxLink is the maximum length of a link that is kept, in bytes.
	maxLink = 500
	// maxOut bounds the text of a page, which can be longer than the page.
	maxOut = maxHTML + maxHTML/2
	// maxInside is the maximum depth of nested quotations and lists that is shown.
	maxInside = 8
	// maxOpen is the maximum depth of open elements. The tags of deeper ones are ignored.
	maxOpen = 512
	// maxTag is the maximum length of a tag, or of the text between two; a page ends there. The tokenizer keeps all
	// attributes of a tag in memory.
	maxTag = maxHTML / 2
)

// pageText converts a page to text close to Markdown, without scripts, styles and hidden content. cut reports that
// the page has more than that. It reads the tags one after the other and builds no tree, which pages can make huge.
func pageText(source string, base *url.URL) (title, text string, cut bool) {
	w := writer{base: base}
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(maxTag)
	for !w.full {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			w.close(0)
			return w.title, strings.TrimSpace(w.out.String()), w.full || !errors.Is(z.Err(), io.EOF)
		case html.TextToken:
			w.text(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(z, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.end(string(name))
		default: // comments and the like
		}
	}
	return w.title, strings.TrimSpace(w.out.String()), true
}

// opened is an element that is still open. Without hidden content, only those are kept that matter for the text.
type opened struct {
	name   string
	hidden bool   // nothing inside of it is shown
	shown  bool   // it is not inside of a hidden one
	tail   string // what ends a link or code
	before string // the marker that its own has replaced
	at     int    // length of the text before it
}

// writer collects the text of a page.
type writer struct {
	out   strings.Builder
	base  *url.URL
	title string

	open   []opened
	above  int // number of open elements beyond maxOpen
	hidden int // number of open elements that are not shown

	// prefix are the line prefixes of quotations and lists.
	prefix []string
	marker string // of a list item whose text has not started
	marks  string // starts of links and code, a byte each, for the next word
	line   bool   // the current line is not empty
	breaks int    // line breaks needed before the next text
	space  bool   // space needed before the next word
	fresh  bool   // the current cell has no text yet
	pre    int
	fence  bool  // the current text begins after <pre>
	lists  []int // counters of ordered lists; -1 for bullets
	begun  bool
	full   bool // the limit of the output is reached
}

// owe requests line breaks before the next text.
func (w *writer) owe(n int) {
	w.space = true
	if !w.fresh {
		w.space, w.breaks = false, max(w.breaks, n)
	}
}

// put writes a part of a line.
func (w *writer) put(s string) {
	if w.out.Len() > maxOut {
		w.full = true
	}
	if s == "" || w.full {
		return
	}
	s, w.marks, w.fresh = w.marks+s, "", false
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

// text handles the text between tags.
func (w *writer) text(s string) {
	if n := len(w.open); n > 0 && w.open[n-1].name == "title" && w.hidden == 1 && w.title == "" {
		w.title = strings.Join(strings.Fields(visible(s)), " ")
	}
	if w.fence { // the first line break of pre is not shown
		s, w.fence = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n"), false
	}
	if w.hidden == 0 {
		w.words(s)
	}
}

// start handles a start tag.
func (w *writer) start(z *html.Tokenizer, closed bool) {
	raw, _ := z.TagName()
	name := string(raw)
	value, hidden := attributes(z, name)
	drawing := -1
	if w.hidden > 0 {
		drawing = slices.IndexFunc(w.open, func(o opened) bool { return o.name == "svg" || o.name == "math" })
	}
	if drawing >= 0 {
		z.NextIsNotRawText()
		if block(name) { // a drawing cannot contain it
			w.close(drawing)
			drawing = -1
		}
	}
	if len(w.open) < maxOpen {
		w.implied(name)
	}
	switch {
	case empty(name):
		w.single(name, value)
		return
	case closed && (drawing >= 0 || name == "svg" || name == "math"):
		return
	}
	hidden = hidden || unseen(name)
	switch {
	case !hidden && w.hidden == 0 && !meant(name):
		return
	case len(w.open) >= maxOpen:
		w.above++
		return
	}
	o := opened{name: name, hidden: hidden, shown: !hidden && w.hidden == 0}
	if hidden {
		w.hidden++
	}
	if o.shown {
		w.begin(&o, value)
	}
	w.open = append(w.open, o)
}

// attributes returns the relevant attribute of an element, and whether an attribute hides the element.
func attributes(z *html.Tokenizer, name string) (value string, hidden bool) {
	want := "alt"
	switch name {
	case "a", "base":
		want = "href"
	case "ol":
		want = "start"
	}
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr()
		hidden = hidden || hides(key, val)
		if string(key) == want {
			value = string(val)
		}
	}
	return value, hidden
}

// implied closes the elements that a new element ends without an end tag.
func (w *writer) implied(name string) {
	if block(name) {
		w.ends("p", "td th table button")
	}
	switch name {
	case "li":
		w.ends("li", "ul ol menu td th table")
	case "dt", "dd":
		w.ends("dt dd", "dl td th table")
	case "td", "th":
		w.ends("td th", "tr table")
	case "tr", "tbody", "thead", "tfoot":
		w.ends("tr", "table")
	case "a":
		w.ends("a", "td th table")
	}
}

// ends closes the innermost element of some names, unless it is outside of the innermost wall.
func (w *writer) ends(names, walls string) {
	inside, outside := strings.Fields(names), strings.Fields(walls)
	for i, o := range slices.Backward(w.open) {
		switch {
		case slices.Contains(inside, o.name):
			w.close(i)
			return
		case slices.Contains(outside, o.name):
			return
		}
	}
}

// end handles an end tag.
func (w *writer) end(name string) {
	switch {
	case name == "html" || name == "head" || name == "body" || w.hidden == 0 && !meant(name):
		return
	case w.above > 0:
		w.above--
		return
	}
	for i, o := range slices.Backward(w.open) {
		cell := o.name == "td" || o.name == "th" || o.name == "table"
		switch {
		case o.name == name:
			w.close(i)
			return
		case cell && name != "tr" && name != "table", block(o.name) && !block(name) && !unseen(name) && !cell:
			return
		}
	}
	if name == "p" && w.hidden == 0 {
		w.owe(2)
	}
}

// close closes the open elements from index i on.
func (w *writer) close(i int) {
	for len(w.open) > i {
		o := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		if o.hidden {
			w.hidden--
		}
		if o.shown {
			w.finish(o)
		}
	}
	w.above = 0
}

// single handles an element that has no end tag.
func (w *writer) single(name, value string) {
	switch {
	case w.hidden > 0:
	case name == "br":
		w.owe(1)
	case name == "hr":
		w.owe(2)
		w.put("---")
		w.owe(2)
	case name == "img":
		if alt := strings.TrimSpace(visible(value)); alt != "" {
			w.words("[image: " + alt + "]")
		}
	case name == "base":
		if u, err := w.base.Parse(value); err == nil {
			w.base = u
		}
	}
}

// begin writes what starts an element.
func (w *writer) begin(o *opened, value string) {
	o.at = w.out.Len()
	w.around(o.name)
	switch o.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.mark(o, strings.Repeat("#", int(o.name[1]-'0'))+" ", "")
	case "a":
		if o.tail = w.target(value); o.tail != "" {
			w.marks += "["
		}
	case "code":
		if w.pre == 0 {
			o.tail, w.marks = "`", w.marks+"`"
		}
	case "blockquote":
		w.within("> ")
	case "pre":
		w.put("```")
		w.owe(1)
		w.pre++
		w.fence = true
	case "ul", "ol", "menu":
		first := -1
		if o.name == "ol" {
			first = 1
			if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1_000_000 {
				first = n
			}
		}
		w.lists = append(w.lists, first)
	case "li":
		marker := "- "
		if last := len(w.lists) - 1; last >= 0 && w.lists[last] >= 0 {
			marker = strconv.Itoa(w.lists[last]) + ". "
			w.lists[last]++
		}
		w.mark(o, marker, strings.Repeat(" ", len(marker)))
	case "td", "th":
		if w.line && w.breaks == 0 {
			w.space = true
			w.put("|")
		}
		w.space, w.fresh, o.at = true, true, w.out.Len()
	}
}

// finish writes what ends an element.
func (w *writer) finish(o opened) {
	text := w.out.Len() > o.at
	switch o.name {
	case "h1", "h2", "h3", "h4", "h5", "h6", "li":
		w.prefix = w.prefix[:len(w.prefix)-1]
		if w.marker != "" {
			w.marker = o.before
		}
	case "a", "code":
		if o.tail != "" && text {
			w.out.WriteString(o.tail)
		} else if o.tail != "" && w.marks != "" {
			w.marks = w.marks[:len(w.marks)-1]
		}
	case "blockquote":
		w.prefix = w.prefix[:len(w.prefix)-1]
	case "pre":
		w.pre--
		w.owe(1)
		w.put("```")
	case "ul", "ol", "menu":
		w.lists = w.lists[:len(w.lists)-1]
	case "td", "th":
		if text {
			w.breaks = 0
		}
		w.space, w.fresh = true, false
	}
	w.around(o.name)
}

// around requests the line breaks before and after an element.
func (w *writer) around(name string) {
	switch name {
	case "ul", "ol", "menu":
		w.owe(2 - min(1, len(w.lists)))
	case "div", "dt", "dd", "figcaption", "summary", "caption", "legend", "li", "tr":
		w.owe(1)
	default:
		if block(name) {
			w.owe(2)
		}
	}
}

// mark puts a marker at the start of the first line of an element.
func (w *writer) mark(o *opened, marker, prefix string) {
	o.before, w.marker = w.marker, marker
	w.within(prefix)
}

func (w *writer) within(prefix string) {
	if len(w.prefix) >= maxInside {
		prefix = ""
	}
	w.prefix = append(w.prefix, prefix)
}

// target is what follows the text of a link, or "" if its address is of no use.
func (w *writer) target(href string) string {
	href = strings.TrimSpace(href)
	u, err := w.base.Parse(href)
	if href == "" || err != nil || href[0] == '#' || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.User = nil
	to := u.String()
	if len(to) > maxLink {
		return ""
	}
	return "](" + strings.ReplaceAll(strings.ReplaceAll(to, "(", "%28"), ")", "%29") + ")"
}

// block reports whether an element is shown on lines of its own and ends a paragraph.
func block(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption",
		"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "legend", "li", "main", "menu", "nav", "ol", "p", "pre",
		"section", "summary", "table", "ul":
		return true
	}
	return false
}

// meant reports whether an element affects the text around it.
func meant(name string) bool {
	switch name {
	case "a", "code", "tr", "td", "th":
		return true
	}
	return block(name)
}

// unseen reports whether the content of an element is not shown.
func unseen(name string) bool {
	switch name {
	case "button", "canvas", "dialog", "iframe", "math", "noembed", "noframes", "noscript", "object", "script", "select", "style", "svg", "template",
		"textarea", "title":
		return true
	}
	return false
}

// empty reports whether an element has no end tag.
func empty(name string) bool {
	switch name {
	case "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta", "param", "source",
		"track", "wbr":
		return true
	}
	return false
}

// hides reports whether an attribute hides its element.
func hides(key, val []byte) bool {
	switch string(key) {
	case "hidden":
		return true
	case "aria-hidden":
		return bytes.EqualFold(val, []byte("true"))
	case "style":
		style := strings.ToLower(strings.Join(strings.Fields(string(val)), "")) + ";"
		style = strings.ReplaceAll(style, "font-size:0.", "") // small, not hidden
		return slices.ContainsFunc(
			[]string{"display:none", "visibility:hidden", "visibility:collapse", "font-size:0", "opacity:0;", "text-indent:-9"},
			func(s string) bool { return strings.Contains(style, s) },
		)
	}
	return false
}
