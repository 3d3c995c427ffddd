package markup

import (
	"bufio"
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

const (
	bullet    = "• "
	rule      = "——————"
	maxIndent = 16
	maxLang   = 32
)

// flattener turns a tree into leaves.
type flattener struct {
	src    []byte
	text   gmhtml.Writer
	leaves []leaf
	pos    position
	indent string // of every line of a list item but the first
	marker string // of the list items begun, for the next leaf
	inside []container
	made   int // number of containers so far
}

// enter sets the container of the following blocks.
func (b *flattener) enter(kind containerKind, n int) {
	b.made++
	b.inside = append(b.inside, container{kind: kind, n: n, id: b.made})
}

func (b *flattener) leave() { b.inside = b.inside[:len(b.inside)-1] }

// here returns the position of the next leaf. It copies the containers, because the stack continues
// to change.
func (b *flattener) here() position {
	pos := b.pos
	pos.inside, pos.indent = slices.Clone(b.inside), len(b.indent)
	return pos
}

// children flattens the blocks in a block. The first child takes the position of its parent; the
// others have their own gaps.
func (b *flattener) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil {
			b.pos.blank = c.HasBlankPreviousLines()
		}
		b.block(c)
	}
}

func (b *flattener) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		before := len(b.leaves)
		b.emit(b.inlines(n, bold, ""))
		for i := range b.leaves[before:] {
			b.leaves[before+i].heading = n.Level
		}
	case *ast.Paragraph, *ast.TextBlock:
		b.emit(b.inlines(n, 0, ""))
	case *ast.Blockquote:
		b.flushMarker()
		b.pos.quote++
		b.enter(inQuote, 0)
		b.children(n)
		b.leave()
		b.pos.quote--
	case *ast.List:
		b.list(n)
	case *ast.ThematicBreak:
		b.emit([]span{{text: rule}})
		b.leaves[len(b.leaves)-1].rule = true
	case *ast.FencedCodeBlock:
		b.fenced(n)
	case *ast.CodeBlock:
		b.emitCode("", b.lines(n.Lines()))
	case *ast.HTMLBlock:
		b.emit([]span{{text: b.htmlBlock(n)}})
	case *extast.Table:
		before, rows := len(b.leaves), b.rows(n)
		b.emitCode("", table(rows))
		if k := len(b.leaves) - 1; k >= before && b.leaves[k].kind == leafCode {
			b.leaves[k].rows = rows
		}
	default:
		b.unknown(n)
	}
}

// unknown simplifies a block of an unknown kind.
func (b *flattener) unknown(n ast.Node) {
	switch c := n.FirstChild(); {
	case c == nil && n.Type() == ast.TypeBlock:
		b.emit([]span{{text: b.lines(n.Lines())}})
	case c != nil && c.Type() == ast.TypeInline:
		b.emit(b.inlines(n, 0, ""))
	default:
		b.children(n)
	}
}

func (b *flattener) list(n *ast.List) {
	number := n.Start
	if n.IsOrdered() {
		b.enter(inNumbers, 0)
	} else {
		b.enter(inBullets, 0)
	}
	defer b.leave()
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil {
			b.pos.blank = item.HasBlankPreviousLines()
		}
		mark := bullet
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(rune(n.Marker)) + " "
			b.enter(inItem, number)
			number++
		} else {
			b.enter(inItem, 0)
		}
		b.item(item, mark)
		b.leave()
	}
}

func (b *flattener) item(item ast.Node, mark string) {
	outer := b.indent
	b.marker += mark
	if len(b.indent) < maxIndent {
		b.indent += strings.Repeat(" ", min(Len(mark), 4))
	}
	b.children(item)
	b.flushMarker()
	b.indent = outer
}

// flushMarker shows the marker of an item that does not begin with text.
func (b *flattener) flushMarker() {
	if b.marker != "" {
		b.emit(nil)
	}
}

// emit adds a text. It takes the pending marker, or the indent of its item.
func (b *flattener) emit(spans []span) {
	head := b.indent
	if b.marker != "" {
		// The outermost marker is indented like the items of its list.
		head = strings.Repeat(" ", max(0, len(b.indent)-Len(b.marker))) + b.marker
		b.marker = ""
	} else if !visible(joined(spans)) {
		return
	}
	if head != "" {
		spans = append([]span{{text: head}}, spans...)
	}
	spans = trimEnd(merge(spans))
	pos := b.here()
	pos.lead = len(head)
	b.leaves = append(b.leaves, newText(spans, pos))
	b.pos.blank = false
}

func (b *flattener) emitCode(lang, text string) {
	b.flushMarker()
	if !visible(text) {
		return
	}
	b.leaves = append(b.leaves, newCode(lang, text, b.here()))
	b.pos.blank = false
}

func (b *flattener) fenced(n *ast.FencedCodeBlock) {
	info := ""
	if n.Info != nil {
		info = strings.TrimSpace(b.resolve(n.Info.Value(b.src)))
	}
	body := b.lines(n.Lines())
	if info != "" && (!isLang(info) || !visible(body)) {
		b.emit([]span{{text: info, style: italic}})
		info = ""
	}
	b.emitCode(info, body)
}

// isLang reports whether a fence's info is a language that is valid in a class name.
func isLang(s string) bool {
	return len(s) <= maxLang && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-_#.", r)
	})
}

func (b *flattener) lines(s *text.Segments) string {
	var out strings.Builder
	for i := range s.Len() {
		seg := s.At(i)
		out.Write(seg.Value(b.src))
	}
	return strings.TrimRight(out.String(), "\n")
}

func (b *flattener) htmlBlock(n *ast.HTMLBlock) string {
	out := b.lines(n.Lines())
	if n.HasClosure() {
		out += "\n" + strings.TrimRight(string(n.ClosureLine.Value(b.src)), "\n")
	}
	return strings.TrimSpace(out)
}

// resolve replaces backslash escapes and character references, as the HTML writer does.
func (b *flattener) resolve(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '&') < 0 {
		return string(raw)
	}
	var buf bytes.Buffer
	w := bufio.NewWriter(&buf)
	b.text.Write(w, raw)
	_ = w.Flush() // a bytes.Buffer never fails
	return clean(html.UnescapeString(buf.String()))
}
