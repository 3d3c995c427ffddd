package webfetch

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxNodes is how many elements and text nodes of a page are kept. Ordinary pages of maxHTML bytes have a tenth
	// of that; pages with more are made to exhaust memory.
	maxNodes = 200_000
	// maxOpen is the maximum depth of open elements. The tags of deeper ones are ignored.
	maxOpen = 512
	// maxAttrs is the maximum number of attributes of a tag. Tags with more are skipped.
	maxAttrs = 256
	// maxName is how much of an unknown element's name is kept.
	maxName = 64
	// slab is how many nodes are allocated at once.
	slab = 1024
)

// node is an element or a text node. Only what affects the text is kept: no hidden content, and no elements that only
// change the style.
//
// The tree of golang.org/x/net/html can take half a gigabyte for forty thousand bytes in which every paragraph
// reopens hundreds of formatting elements, because the rules of HTML copy them. This tree copies nothing.
type node struct {
	tag    atom.Atom // 0 for text
	hidden bool      // marks a hidden element, without content
	// data is the text, or the one relevant attribute of an element.
	data                            string
	parent, first, last, prev, next *node
}

// opened is an element that is still open.
type opened struct {
	tag  atom.Atom
	name string // of unknown elements, whose tag is 0
	node *node  // nil if its text belongs to the surrounding element
	skip bool   // nothing inside of it is shown
}

// tree makes nodes from the tags of a page, in one pass. It handles omitted end tags like HTML in the cases that
// matter for text.
type tree struct {
	source string
	at     int // end of the part that was read
	z      *html.Tokenizer
	root   *node
	head   *node
	open   []opened
	above  int // number of open elements beyond maxOpen
	skips  int // number of open elements that are not shown
	body   bool
	free   []node
	nodes  int
}

// parseTree parses a page. cut reports that the page has more than what is kept.
func parseTree(source string) (root *node, cut bool) {
	t := &tree{source: source, root: &node{tag: atom.Html}}
	t.head = t.add(t.root, atom.Head, "")
	t.restart()
	raw := false // the text after a tag such as <script> contains no HTML
	for t.nodes < maxNodes {
		if end, attrs := tagEnd(t.source[t.at:]); !raw && attrs > maxAttrs {
			t.at += end
			t.restart()
			continue
		}
		kind := t.z.Next()
		if kind == html.ErrorToken {
			return t.root, false
		}
		t.at += len(t.z.Raw())
		raw = false
		switch kind {
		case html.TextToken:
			t.text(string(t.z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			raw = t.begin(kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			t.end(t.name())
		default: // comments and the like
		}
	}
	return t.root, true
}

// restart restarts the tokenizer at the current position.
func (t *tree) restart() { t.z = html.NewTokenizer(strings.NewReader(t.source[t.at:])) }

// tagEnd returns the length of the tag at the start of a text and its number of attributes, as the tokenizer would
// read them. The tokenizer itself keeps all attributes in memory.
func tagEnd(s string) (length, attrs int) {
	if len(s) < 2 || s[0] != '<' || (s[1]|0x20) < 'a' || (s[1]|0x20) > 'z' {
		return 0, 0
	}
	skip := func(i int, set string, while bool) int {
		for i < len(s) && strings.IndexByte(set, s[i]) >= 0 == while {
			i++
		}
		return i
	}
	const blank = " \n\r\t\f"
	for i := skip(1, blank+"/>", false); ; attrs++ {
		i = skip(i, blank+"/", true)
		if i >= len(s) || s[i] == '>' {
			return min(i+1, len(s)), attrs
		}
		i = skip(i+1, blank+"/>=", false) // a name can start with =
		if i = skip(i, blank, true); i >= len(s) || s[i] != '=' {
			continue
		}
		i = skip(i+1, blank, true)
		switch {
		case i < len(s) && (s[i] == '"' || s[i] == '\''):
			i = min(skip(i+1, s[i:i+1], false)+1, len(s))
		default:
			i = skip(i, blank+">", false)
		}
	}
}

// name is the name of the current tag.
func (t *tree) name() opened {
	name, _ := t.z.TagName()
	if tag := atom.Lookup(name); tag != 0 {
		return opened{tag: tag}
	}
	return opened{name: string(name[:min(len(name), maxName)])}
}

func (o opened) is(other opened) bool { return o.tag == other.tag && o.name == other.name }

// make allocates a node.
func (t *tree) make(tag atom.Atom, data string) *node {
	if len(t.free) == 0 {
		t.free = make([]node, slab)
	}
	n := &t.free[0]
	t.free, t.nodes = t.free[1:], t.nodes+1
	n.tag, n.data = tag, data
	return n
}

// add appends a new node to another.
func (t *tree) add(to *node, tag atom.Atom, data string) *node {
	n := t.make(tag, data)
	n.parent, n.prev = to, to.last
	if to.last == nil {
		to.first = n
	} else {
		to.last.next = n
	}
	to.last = n
	return n
}

// put adds a node at the current position. Content of a table outside of its cells is moved before the table.
func (t *tree) put(tag atom.Atom, data string) *node {
	to := t.root
	for _, o := range slices.Backward(t.open) {
		if o.node != nil {
			to = o.node
			break
		}
	}
	if !ofTable(to.tag) || inTable(tag) {
		return t.add(to, tag, data)
	}
	for to.tag != atom.Table {
		to = to.parent
	}
	n := t.make(tag, data)
	n.parent, n.prev, n.next = to.parent, to.prev, to
	if to.prev == nil {
		to.parent.first = n
	} else {
		to.prev.next = n
	}
	to.prev = n
	return n
}

// text handles the text between tags.
func (t *tree) text(s string) {
	if t.skips > 0 || s == "" {
		return
	}
	empty := strings.Trim(s, " \n\r\t\f") == ""
	if !empty && !t.title() {
		t.body = true
	}
	if !t.body && empty {
		return
	}
	if n := len(t.open); n > 0 && t.open[n-1].node != nil {
		switch in := t.open[n-1].node; {
		case in.tag == atom.Pre && in.first == nil:
			if s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n"); s == "" { // the first line break of pre is not shown
				return
			}
		case ofTable(in.tag) && empty:
			return
		}
	}
	t.put(0, s)
}

// title reports whether the current position is in the title of the head.
func (t *tree) title() bool {
	n := len(t.open)
	return n > 0 && t.open[n-1].node != nil && t.open[n-1].node.parent == t.head
}

// begin handles a start tag. It reports whether the following text contains no HTML.
func (t *tree) begin(closed bool) (raw bool) {
	o := t.name()
	if o.tag == atom.Image {
		o.tag = atom.Img
	}
	data, hidden := t.attributes(o.tag)
	if t.foreign(o.tag) {
		t.z.NextIsNotRawText()
		if !closed {
			t.push(o)
		}
		return false
	}
	raw = isRaw(o.tag)
	if !t.body && ofHead(o.tag) {
		t.inHead(o, data)
		return raw
	}
	switch o.tag {
	case atom.Html, atom.Head, atom.Frameset, atom.Frame, atom.Col, atom.Colgroup:
		if o.tag == atom.Html && hidden && len(t.open) == 0 {
			t.push(opened{tag: o.tag, skip: true})
		}
		return raw
	case atom.Body:
		if hidden && !t.body {
			t.push(opened{tag: o.tag, skip: true})
		}
		t.body = true
		return raw
	default:
	}
	t.body = true
	if !t.implied(o.tag) {
		return raw
	}
	o.skip = hidden || unseen(o.tag)
	if hidden && t.skips == 0 && t.opens(atom.A) >= 0 {
		t.put(atom.Span, "").hidden = true // marks the link as more than inline text
	}
	if !o.skip && t.skips == 0 && meant(o.tag) {
		o.node = t.put(o.tag, data)
	}
	if drawing := o.tag == atom.Svg || o.tag == atom.Math; !empty(o.tag) && (!drawing || !closed) {
		t.push(o)
	}
	return raw
}

// inHead handles an element of the head; titles and base URLs are kept.
func (t *tree) inHead(o opened, data string) {
	switch o.tag {
	case atom.Title:
		o.node = t.add(t.head, o.tag, "")
		t.push(o)
	case atom.Base:
		t.add(t.head, o.tag, data)
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Noframes:
		o.skip = true
		t.push(o)
	default:
	}
}

// attributes returns the relevant attribute of an element, and whether an attribute hides the element.
func (t *tree) attributes(tag atom.Atom) (data string, hidden bool) {
	want := "alt"
	switch tag {
	case atom.A, atom.Base:
		want = "href"
	case atom.Ol:
		want = "start"
	default:
	}
	for more := true; more; {
		var key, val []byte
		key, val, more = t.z.TagAttr()
		hidden = hidden || hides(key, val)
		if string(key) == want {
			data = string(val)
		}
	}
	return data, hidden
}

// push opens an element.
func (t *tree) push(o opened) {
	if len(t.open) >= maxOpen {
		t.above++
		return
	}
	if o.skip {
		t.skips++
	}
	t.open = append(t.open, o)
}

// close closes the open elements from index i on.
func (t *tree) close(i int) {
	for _, o := range t.open[i:] {
		if o.skip {
			t.skips--
		}
	}
	t.open, t.above = t.open[:i], 0
}

// opens is the index of an open element that is not behind a wall, or -1.
func (t *tree) opens(tags ...atom.Atom) int { return t.find(isWall, tags...) }

func (t *tree) find(wall func(atom.Atom) bool, tags ...atom.Atom) int {
	for i, o := range slices.Backward(t.open) {
		switch {
		case slices.Contains(tags, o.tag):
			return i
		case wall(o.tag):
			return -1
		}
	}
	return -1
}

// foreign reports whether a tag belongs to open SVG or MathML content. Some tags end such content.
func (t *tree) foreign(tag atom.Atom) bool {
	if t.skips == 0 {
		return false
	}
	i := len(t.open) - 1
	for ; i >= 0 && t.open[i].tag != atom.Svg && t.open[i].tag != atom.Math; i-- {
		switch t.open[i].tag {
		case atom.ForeignObject, atom.Foreignobject, atom.Desc, atom.Title, atom.AnnotationXml, atom.Mi, atom.Mo, atom.Mn, atom.Ms, atom.Mtext, atom.Template:
			return false // contains HTML
		default:
		}
	}
	if i < 0 {
		return false
	}
	if endsForeign(tag) {
		t.close(i)
		return false
	}
	return true
}

// end handles an end tag.
func (t *tree) end(o opened) {
	switch {
	case t.above > 0:
		t.above--
		return
	case o.tag == atom.Head, o.tag == atom.Body, o.tag == atom.Html:
		return
	case o.tag == atom.Br && t.skips == 0:
		t.put(atom.Br, "")
		return
	}
	wall := isWall
	switch {
	case ofTable(o.tag), inTable(o.tag):
		wall = func(tag atom.Atom) bool { return tag == atom.Table || tag == atom.Template }
	case o.tag == atom.P:
		wall = func(tag atom.Atom) bool { return tag == atom.Button || isWall(tag) }
	case o.tag == atom.Li:
		wall = func(tag atom.Atom) bool { return tag == atom.Ul || tag == atom.Ol || isWall(tag) }
	}
	looks := formats(o.tag)
	for i := len(t.open) - 1; i >= 0; i-- {
		at := t.open[i]
		switch {
		case at.is(o), level(o.tag) > 0 && level(at.tag) > 0:
			if looks && at.node == nil { // elements inside of it stay open
				t.drop(i)
			} else {
				t.close(i)
			}
			return
		case wall(at.tag), !looks && !special(o.tag) && special(at.tag):
			i = 0
		}
	}
	if o.tag == atom.P && t.skips == 0 {
		t.put(atom.P, "")
	}
}

// drop removes one element from the open ones.
func (t *tree) drop(i int) {
	if t.open[i].skip {
		t.skips--
	}
	t.open = append(t.open[:i], t.open[i+1:]...)
}
