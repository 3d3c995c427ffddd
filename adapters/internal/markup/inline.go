package markup

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// maxHref is the longest URL that becomes a link; longer ones are shown.
const maxHref = 1000

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

// rawHTML shows a tag literally, except for the line break.
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

// link makes a link of a node's text. If the URL cannot be a link, or is too long, it follows the
// text in parentheses.
func (b *flattener) link(n ast.Node, dest, fallback string, st style) []span {
	address := string(util.URLEscape([]byte(dest), true))
	href := address
	if !linkable(address) {
		href = ""
	}
	out := b.inlines(n, st, href)
	if !visible(joined(out)) && fallback != "" {
		out = []span{{text: fallback, style: st, href: href}}
	}
	if !visible(joined(out)) {
		return []span{{text: b.resolve([]byte(dest)), style: st, href: href}}
	}
	if dest == "" || sameAddress(joined(out), address) {
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

// linkable reports whether a URL is valid on every platform. Telegram silently drops a link whose
// host has no dot, such as localhost, or is malformed; user info before an @ is meant to mislead
// people. Such URLs are shown.
func linkable(address string) bool {
	if len(address) > maxHref {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return false
	}
	host, port, hasPort := strings.Cut(u.Host, ":")
	if n, err := strconv.Atoi(port); hasPort && (err != nil || n < 1 || n > 65535) {
		return false
	}
	return strings.Contains(host, ".") && host != "." && !strings.ContainsFunc(host, notInHost)
}

func notInHost(r rune) bool {
	return r < 0x80 && r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// sameAddress reports whether a link's text equals its URL.
func sameAddress(label, address string) bool {
	label = strings.TrimSpace(label)
	for _, head := range []string{"", "http://", "https://", "mailto:"} {
		if strings.EqualFold(head+label, address) || strings.EqualFold(head+label+"/", address) {
			return true
		}
	}
	return false
}

// merge joins adjacent spans of the same style.
func merge(spans []span) []span {
	out := spans[:0:0]
	for i := 0; i < len(spans); {
		s, from := spans[i], i
		for i++; i < len(spans) && (spans[i].text == "" || spans[i].style == s.style && spans[i].href == s.href); {
			i++
		}
		if s.text = joined(spans[from:i]); s.text != "" {
			out = append(out, s)
		}
	}
	return out
}

// trimEnd removes white space at the end.
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
