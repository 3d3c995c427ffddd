package webfetch

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxNodes is how many elements and pieces of text of a page are kept. A page of
	// maxHTML has a tenth of that; one that has more was made to fill the memory.
	maxNodes = 200_000
	// maxOpen is how many elements are open inside of each other. Deeper ones are read
	// as if their tags were not there.
	maxOpen = 512
	// maxAttrs is how many attributes a tag has. Tags with more are read over.
	maxAttrs = 256
	// maxName is how much of the name of an element that nobody knows is looked at.
	maxName = 64
	// slab is how many nodes are made at once.
	slab = 1024
)

// node is an element or a piece of text. Of a page only that is kept which text can
// be made of: neither what is hidden, nor elements that only change how text looks.
//
// A tree of golang.org/x/net/html would take half a gigabyte for forty thousand bytes
// in which every paragraph begins anew what hundreds of tags have begun: the rules of
// HTML copy them. Nothing is copied here.
type node struct {
	tag    atom.Atom // 0: a piece of text
	hidden bool      // of an element without anything in it
	// data is the text, or the one attribute that an element is read for.
	data                            string
	parent, first, last, prev, next *node
}

// opened is an element whose end has not come.
type opened struct {
	tag  atom.Atom
	name string // of elements that nobody knows, whose tag is 0
	node *node  // nil: text in it belongs to what is around it
	skip bool   // nothing inside of it is shown
}

// tree makes nodes of the tags of a page, in one pass. Ends that are left out are
// found as HTML has them, in the cases that matter for text.
type tree struct {
	source string
	at     int // the end of what was read
	z      *html.Tokenizer
	root   *node
	head   *node
	open   []opened
	above  int // elements beyond maxOpen that are open
	skips  int // open elements of which nothing is shown
	body   bool
	free   []node
	nodes  int
}

// parseTree reads a page. It reports whether that has more than what is kept.
func parseTree(source string) (root *node, cut bool) {
	t := &tree{source: source, root: &node{tag: atom.Html}}
	t.head = t.add(t.root, atom.Head, "")
	t.restart()
	raw := false // the text after a tag such as that of a script is no HTML
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

// restart goes on at the end of what was read.
func (t *tree) restart() { t.z = html.NewTokenizer(strings.NewReader(t.source[t.at:])) }

// tagEnd tells how long the tag is that a text begins with, and how many attributes it
// has, as the tokenizer reads them. That one keeps all of them.
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
		i = skip(i+1, blank+"/>=", false) // a name can begin with =
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

// name is the name of the tag that was read.
func (t *tree) name() opened {
	name, _ := t.z.TagName()
	if tag := atom.Lookup(name); tag != 0 {
		return opened{tag: tag}
	}
	return opened{name: string(name[:min(len(name), maxName)])}
}

func (o opened) is(other opened) bool { return o.tag == other.tag && o.name == other.name }

// make makes a node, of a page that has not too many.
func (t *tree) make(tag atom.Atom, data string) *node {
	if len(t.free) == 0 {
		t.free = make([]node, slab)
	}
	n := &t.free[0]
	t.free, t.nodes = t.free[1:], t.nodes+1
	n.tag, n.data = tag, data
	return n
}

// add puts a new node at the end of another.
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

// put adds a node where the page is. What stands in a table outside of its cells is
// put in front of that.
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

// text takes what stands between tags.
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
			if s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n"); s == "" { // that one is not shown
				return
			}
		case ofTable(in.tag) && empty:
			return
		}
	}
	t.put(0, s)
}

// title reports whether the page is in a title of its head.
func (t *tree) title() bool {
	n := len(t.open)
	return n > 0 && t.open[n-1].node != nil && t.open[n-1].node.parent == t.head
}

// begin takes the beginning of an element. It reports whether the text that follows is no
// HTML.
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
		t.put(atom.Span, "").hidden = true // a link that is more than words
	}
	if !o.skip && t.skips == 0 && meant(o.tag) {
		o.node = t.put(o.tag, data)
	}
	if drawing := o.tag == atom.Svg || o.tag == atom.Math; !empty(o.tag) && (!drawing || !closed) {
		t.push(o)
	}
	return raw
}

// inHead takes an element of the head, of which titles and bases are kept.
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

// attributes are the one that an element is read for, and whether they hide it.
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

// close ends all elements from the one at i on.
func (t *tree) close(i int) {
	for _, o := range t.open[i:] {
		if o.skip {
			t.skips--
		}
	}
	t.open, t.above = t.open[:i], 0
}

// opens is where an element is open that was not shut off by another; -1: nowhere.
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

// foreign reports whether a tag belongs to a drawing or a formula that is open. Some tags
// end those.
func (t *tree) foreign(tag atom.Atom) bool {
	if t.skips == 0 {
		return false
	}
	i := len(t.open) - 1
	for ; i >= 0 && t.open[i].tag != atom.Svg && t.open[i].tag != atom.Math; i-- {
		switch t.open[i].tag {
		case atom.ForeignObject, atom.Foreignobject, atom.Desc, atom.Title, atom.AnnotationXml, atom.Mi, atom.Mo, atom.Mn, atom.Ms, atom.Mtext, atom.Template:
			return false // HTML inside of it
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

// end takes the end of an element.
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
			if looks && at.node == nil { // what began inside of it goes on
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

// drop takes an element out of those that are open.
func (t *tree) drop(i int) {
	if t.open[i].skip {
		t.skips--
	}
	t.open = append(t.open[:i], t.open[i+1:]...)
}
