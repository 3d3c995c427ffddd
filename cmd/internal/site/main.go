// Command site makes a static site of the pages in docs and of those at the top: `make site`. The same pages can be
// read on the forge. The navigation is what docs/README.md lists, by its kinds: tutorial, how-to, reference and
// explanation. A page needs no script, no font and nothing from another address.
package main

import (
	"bytes"
	"cmp"
	_ "embed" // the style
	"flag"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed style.css
var style string

// forge has the files of the repository that are not on the site.
const forge = "https://github.com/shipmyagent/shipmyagent/blob/main/"

// index lists the pages of the documentation.
const index = "docs/README.md"

func main() {
	out := flag.String("out", "bin/site", "the `folder` of the site, which is replaced")
	flag.Parse()
	if err := build(".", *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// site is what pages are made of.
type site struct {
	root, out string
	markdown  goldmark.Markdown
	pages     map[string]*page // by the path in the repository
	groups    []group
}

type page struct {
	path, title string
	source      []byte
	doc         ast.Node
}

// group is a kind of pages in the navigation.
type group struct {
	title string
	links []link
}

type link struct{ to, title string }

// build makes the site of a repository in a new folder, or in that of an earlier one.
func build(root, out string) error {
	if _, err := os.Stat(out); err == nil {
		if _, err := os.Stat(filepath.Join(out, "style.css")); err != nil {
			return fmt.Errorf("%s is no site that could be replaced", out)
		}
	}
	s := &site{root: root, out: out, pages: map[string]*page{}, markdown: goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), goldmark.WithParserOptions(parser.WithAutoHeadingID()))}
	if err := s.read(); err != nil {
		return err
	}
	if s.pages[index] == nil {
		return fmt.Errorf("there is no %s in %s", index, root)
	}
	s.groups = s.navigation()
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := s.write("style.css", []byte(style)); err != nil {
		return err
	}
	for _, p := range s.pages {
		if err := s.writePage(p); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return nil
}

// read parses the pages: those at the top, and those in docs but for the examples.
func (s *site) read() error {
	return fs.WalkDir(os.DirFS(s.root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (name != "docs" && !strings.HasPrefix(name, "docs/") || name == "docs/examples"):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		source, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			return err
		}
		doc := s.markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
		s.pages[name] = &page{path: name, title: cmp.Or(headings(doc, source, 1)...), source: source, doc: doc}
		return nil
	})
}

// headings are the texts of the headings of a level, the first one first, or one empty text.
func headings(doc ast.Node, source []byte, level int) (out []string) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == level {
			out = append(out, plain(h, source))
		}
	}
	return append(out, "")
}

// plain is the text below a node without its marks.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Value(source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// navigation are the links to pages in the index, by its headings.
func (s *site) navigation() []group {
	p := s.pages[index]
	groups, seen := []group{{title: "Tutorial"}}, map[string]bool{}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level > 1 {
			groups = append(groups, group{title: plain(h, p.source)})
		}
		_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
			if l, ok := n.(*ast.Link); ok && entering {
				to := s.inRepository(p, string(l.Destination))
				for _, name := range s.under(to) {
					if !seen[name] {
						seen[name] = true
						last := &groups[len(groups)-1]
						last.links = append(last.links, link{name, s.pages[name].title})
					}
				}
			}
			return ast.WalkContinue, nil
		})
	}
	return groups
}

// under are the pages that a path means: one page, or those below a folder.
func (s *site) under(to string) (out []string) {
	for name := range s.pages {
		if name == to || strings.HasPrefix(name, strings.TrimSuffix(to, "/")+"/") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// inRepository is the file that a destination on a page means, or empty for other addresses.
func (*site) inRepository(p *page, destination string) string {
	u, err := url.Parse(destination)
	if err != nil || u.IsAbs() || u.Path == "" {
		return ""
	}
	return path.Join(path.Dir(p.path), u.Path)
}

// address is where the page of a file is on the site.
func address(name string) string {
	name = strings.TrimSuffix(name, ".md") + ".html"
	dir, base := path.Split(name)
	return dir + strings.Replace(base, "README", "index", 1)
}

// relative is the way from one place on the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// target rewrites the destination of a link or picture for the site. A file that the site has is copied.
func (s *site) target(p *page, destination string, copied bool) (string, error) {
	name := s.inRepository(p, destination)
	if name == "" {
		return destination, nil
	}
	_, fragment, _ := strings.Cut(destination, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	info, err := os.Stat(filepath.Join(s.root, name))
	switch pages := s.under(name); {
	case err != nil:
		return "", fmt.Errorf("the link to %s leads nowhere: %w", destination, err)
	case s.pages[name] != nil:
		return relative(address(p.path), address(name)) + fragment, nil
	case info.IsDir() && len(pages) > 0:
		return relative(address(p.path), address(index)), nil // which lists them
	case copied || strings.HasPrefix(name, "docs/reference/"):
		b, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			return "", err
		}
		return relative(address(p.path), name), s.write(name, b)
	default:
		return forge + name + fragment, nil
	}
}

func (s *site) write(name string, b []byte) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a site is public
		return err
	}
	return os.WriteFile(file, b, 0o644) //nolint:gosec // a site is public
}

func (s *site) writePage(p *page) error {
	err := ast.Walk(p.doc, func(n ast.Node, entering bool) (status ast.WalkStatus, err error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				to, fault := s.target(p, string(n.Destination), false)
				n.Destination, err = []byte(to), fault
			}
		case *ast.Image:
			if entering {
				to, fault := s.target(p, string(n.Destination), true)
				n.Destination, err = []byte(to), fault
			}
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := s.markdown.Renderer().Render(&body, p.source, p.doc); err != nil {
		return err
	}
	language := "en"
	if strings.HasSuffix(p.path, ".zh.md") {
		language = "zh"
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<!doctype html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; style-src 'self'">
<title>%s</title>
<link rel="stylesheet" href="%s">
</head>
<body>
%s<main>
%s</main>
</body>
</html>
`, language, html.EscapeString(p.title), relative(address(p.path), "style.css"), s.menu(p, language), body.String())
	return s.write(address(p.path), out.Bytes())
}

// menu is the navigation beside a page, in its language.
func (s *site) menu(p *page, language string) string {
	here := address(p.path)
	var out strings.Builder
	item := func(name, title string) {
		current := ""
		if name == p.path {
			current = ` aria-current="page"`
		}
		fmt.Fprintf(&out, "<li><a href=\"%s\"%s>%s</a></li>\n", relative(here, address(name)), current, html.EscapeString(title))
	}
	home, other, label := "README.md", strings.TrimSuffix(p.path, ".md")+".zh.md", "中文"
	if language == "zh" {
		home, other, label = "README.zh.md", strings.TrimSuffix(p.path, ".zh.md")+".md", "English"
	}
	out.WriteString("<nav>\n<ul>\n")
	item(home, "ShipMyAgent")
	item(index, s.pages[index].title)
	if s.pages[other] != nil {
		item(other, label)
	}
	out.WriteString("</ul>\n")
	chinese := []string{"教程", "操作指南", "参考", "说明"} // the kinds in the order of the index
	for i, g := range s.groups {
		title := g.title
		if language == "zh" && i < len(chinese) {
			title = chinese[i]
		}
		fmt.Fprintf(&out, "<h2>%s</h2>\n<ul>\n", html.EscapeString(title))
		for _, l := range g.links {
			item(l.to, l.title)
		}
		out.WriteString("</ul>\n")
	}
	out.WriteString("</nav>\n")
	return out.String()
}

var _ parser.IDs = ids{}

// ids gives headings the names that they have on the forge, so that the same links work there and here.
type ids map[string]bool

func (s ids) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	unique := name
	for n := 1; s[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	s[unique] = true
	return []byte(unique)
}

func (s ids) Put(value []byte) { s[string(value)] = true }
