package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// maxHref is the longest address that becomes a link; longer ones are shown.
const maxHref = 1000

// inlines flattens the inline nodes in a node.
func (b *flattener) inlines(n ast.Node, st style, href string) []span {
	var out []span
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, b.inline(c, st, href)...)
	}
	return out
}

func (b *flattener) inline(n ast.Node, st style, href string) []span {
	switch n := n.(type) {
	case *ast.Text:
		return b.textNode(n, st, href)
	case *ast.String:
		return []span{{text: string(n.Value), style: st, href: href}}
	case *ast.CodeSpan:
		return []span{{text: b.codeSpan(n), style: st | code, href: href}}
	case *ast.Emphasis:
		if n.Level >= 2 {
			return b.inlines(n, st|bold, href)
		}
		return b.inlines(n, st|italic, href)
	case *extast.Strikethrough:
		return b.inlines(n, st|strike, href)
	case *ast.Link:
		return b.link(n, string(n.Destination), "", st)
	case *ast.Image:
		return b.link(n, string(n.Destination), "image", st)
	case *ast.AutoLink:
		return b.autoLink(n, st)
	case *ast.RawHTML:
		return []span{{text: b.rawHTML(n), style: st, href: href}}
	case *extast.TaskCheckBox:
		if n.IsChecked {
			return []span{{text: "☑ ", style: st, href: href}}
		}
		return []span{{text: "☐ ", style: st, href: href}}
	}
	return b.inlines(n, st, href)
}

func (b *flattener) textNode(n *ast.Text, st style, href string) []span {
	raw := n.Segment.Value(b.src)
	out := string(raw)
	if !n.IsRaw() {
		out = b.resolve(raw)
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		out = strings.TrimRight(out, " ") + "\n" + b.indent
	}
	return []span{{text: out, style: st, href: href}}
}

func (b *flattener) codeSpan(n *ast.CodeSpan) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out.Write(t.Segment.Value(b.src))
		}
	}
	return strings.ReplaceAll(out.String(), "\n", " ")
}

// rawHTML shows a tag as it was typed, but for the line break.
func (b *flattener) rawHTML(n *ast.RawHTML) string {
	var out strings.Builder
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		out.Write(seg.Value(b.src))
	}
	switch strings.ToLower(strings.ReplaceAll(out.String(), " ", "")) {
	case "<br>", "<br/>":
		return "\n" + b.indent
	}
	return out.String()
}

// link makes a link of a node's text. A link that may not be one, or that is too
// long, is followed by its address in parentheses.
func (b *flattener) link(n ast.Node, dest, fallback string, st style) []span {
	url := string(util.URLEscape([]byte(dest), true))
	href := url
	if !linkable(url) {
		href = ""
	}
	out := b.inlines(n, st, href)
	if !visible(joined(out)) && fallback != "" {
		out = []span{{text: fallback, style: st, href: href}}
	}
	if !visible(joined(out)) {
		return []span{{text: b.resolve([]byte(dest)), style: st, href: href}}
	}
	if dest == "" || sameAddress(joined(out), url) {
		return out
	}
	note := span{text: " (" + b.resolve([]byte(dest)) + ")", style: st}
	if href != "" {
		note.style |= aside
	}
	return append(out, note)
}

func (b *flattener) autoLink(n *ast.AutoLink, st style) []span {
	label := string(n.Label(b.src))
	href := string(util.URLEscape(n.URL(b.src), false))
	if n.AutoLinkType == ast.AutoLinkEmail || !linkable(href) {
		href = ""
	}
	return []span{{text: label, style: st, href: href}}
}

// linkable tells addresses that every place may follow.
func linkable(url string) bool {
	if len(url) > maxHref {
		return false
	}
	scheme, rest, ok := strings.Cut(url, "://")
	return ok && rest != "" && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// sameAddress tells whether a link's text says its address.
func sameAddress(label, url string) bool {
	label = strings.TrimSpace(label)
	for _, head := range []string{"", "http://", "https://", "mailto:"} {
		if strings.EqualFold(head+label, url) || strings.EqualFold(head+label+"/", url) {
			return true
		}
	}
	return false
}

// merge joins neighbours of one style.
func merge(spans []span) []span {
	out := spans[:0:0]
	for _, s := range spans {
		if k := len(out) - 1; k >= 0 && out[k].style == s.style && out[k].href == s.href {
			out[k].text += s.text
		} else if s.text != "" {
			out = append(out, s)
		}
	}
	return out
}

// trimEnd cuts white space at the end.
func trimEnd(spans []span) []span {
	for k := len(spans) - 1; k >= 0; k-- {
		spans[k].text = strings.TrimRight(spans[k].text, " \n\t")
		if spans[k].text != "" {
			break
		}
		spans = spans[:k]
	}
	return spans
}
