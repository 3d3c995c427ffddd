package markup

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// HTML renders a text as HTML that is safe to put into a page: no raw HTML, links only to http,
// https and mailto, images as links.
func (r *Renderer) HTML(src string) string {
	src = clean(src)
	var w strings.Builder
	if isPlain(src) || tooMuch(src) {
		for _, l := range paragraphs(src) {
			w.WriteString("<p>")
			escape(&w, joined(l.spans))
			w.WriteString("</p>\n")
		}
		return w.String()
	}
	text := []byte(src)
	// Unreachable: a strings.Builder never fails, and neither does a node renderer.
	if err := r.web.Render(&w, text, r.tree(text)); err != nil {
		return ""
	}
	return w.String()
}

func newWeb() renderer.Renderer {
	return renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(safeNodes{text: html.NewWriter()}, 100),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 500),
		util.Prioritized(html.NewRenderer(), 1000),
	))
}

// safeNodes renders the nodes that could contain active content.
type safeNodes struct{ text html.Writer }

func (s safeNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindLink, s.link)
	reg.Register(ast.KindImage, s.image)
	reg.Register(ast.KindAutoLink, s.autoLink)
	reg.Register(ast.KindRawHTML, s.rawHTML)
	reg.Register(ast.KindHTMLBlock, s.htmlBlock)
}

func (s safeNodes) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	l := n.(*ast.Link) //nolint:errcheck // registered for links only
	s.anchor(w, l.Destination, entering)
	return ast.WalkContinue, nil
}

func (s safeNodes) image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	img := n.(*ast.Image) //nolint:errcheck // registered for images only
	s.anchor(w, img.Destination, entering)
	if entering && !n.HasChildren() {
		_, _ = w.WriteString("image")
	}
	return ast.WalkContinue, nil
}

// anchor opens or closes a link; instead of an unsafe link its URL is shown in parentheses.
func (s safeNodes) anchor(w util.BufWriter, dest []byte, entering bool) {
	address := util.URLEscape(dest, true)
	switch ok := safeLink(string(address)); {
	case ok && entering:
		openLink(w, address)
	case ok:
		_, _ = w.WriteString("</a>")
	case !entering && len(dest) > 0:
		_, _ = w.WriteString(" (")
		s.text.Write(w, dest)
		_ = w.WriteByte(')')
	}
}

func openLink(w util.BufWriter, address []byte) {
	_, _ = w.WriteString(`<a href="`)
	_, _ = w.Write(util.EscapeHTML(address))
	_, _ = w.WriteString(`" rel="noopener noreferrer nofollow" target="_blank">`)
}

func (s safeNodes) autoLink(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	l := n.(*ast.AutoLink) //nolint:errcheck // registered for links only
	address := util.URLEscape(l.URL(src), false)
	if l.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(string(address)), "mailto:") {
		address = append([]byte("mailto:"), address...)
	}
	ok := safeLink(string(address))
	if ok {
		openLink(w, address)
	}
	_, _ = w.Write(util.EscapeHTML(l.Label(src)))
	if ok {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// safeLink reports whether a page may link to a URL.
func safeLink(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	}
	return false
}

func (s safeNodes) rawHTML(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		raw := n.(*ast.RawHTML) //nolint:errcheck // registered for raw HTML only
		for i := range raw.Segments.Len() {
			seg := raw.Segments.At(i)
			_, _ = w.Write(util.EscapeHTML(seg.Value(src)))
		}
	}
	return ast.WalkSkipChildren, nil
}

func (s safeNodes) htmlBlock(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock) //nolint:errcheck // registered for HTML blocks only
	if entering {
		_, _ = w.WriteString("<p>")
		for i := range block.Lines().Len() {
			seg := block.Lines().At(i)
			_, _ = w.Write(util.EscapeHTML(seg.Value(src)))
		}
		return ast.WalkContinue, nil
	}
	if block.HasClosure() {
		_, _ = w.Write(util.EscapeHTML(block.ClosureLine.Value(src)))
	}
	_, _ = w.WriteString("</p>\n")
	return ast.WalkContinue, nil
}
