package archtest_test

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestLinksOfPages: every relative link of a page leads to a file or folder of the repository, and to a heading if it
// names one.
func TestLinksOfPages(t *testing.T) {
	for _, page := range markdown(t) {
		for _, m := range mdLink.FindAllStringSubmatch(pageText(t, page), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is missing", page, m[1])
			} else if anchor != "" && !slices.Contains(anchors(pageText(t, file)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

func markdown(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root(t), "*.md"))
	stdtest.Must(t, err)
	err = filepath.WalkDir(filepath.Join(root(t), "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages
}

// pageText is the text of a page without its fenced blocks.
func pageText(t *testing.T, path string) string {
	t.Helper()
	text := stdtest.Read(t, path)
	return mdFence.ReplaceAllString(string(text), "")
}

// anchors are the anchors that a forge makes of the headings of a page.
func anchors(text string) []string {
	var out []string
	for _, m := range mdHeading.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return out
}

// TestTableOfDecisions: the files in the table of where things are decided exist, and declare the functions of their row.
func TestTableOfDecisions(t *testing.T) {
	declared := map[string][]string{}
	for _, s := range sources(t) {
		rel := "/" + filepath.ToSlash(s.rel)
		declared[rel] = nil
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				declared[rel] = append(declared[rel], f.Name.Name)
			}
		}
	}
	_, table, _ := strings.Cut(pageText(t, filepath.Join(root(t), "docs/design/0001-house.md")), "## Where decisions are made")
	rows := regexp.MustCompile(`(?m)^\|[^|]+\? \|.+\|$`).FindAllString(table, -1)
	if len(rows) < 12 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		var there, named []string
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1) {
			if filepath.Ext(m[1]) != ".go" {
				named = append(named, m[1])
				continue
			}
			found := false
			for file, names := range declared {
				if strings.HasSuffix(file, "/"+m[1]) {
					there, found = append(there, names...), true
				}
			}
			if !found {
				t.Errorf("there is no file %s:\n%s", m[1], row)
			}
		}
		for _, name := range named {
			if !strings.ContainsAny(name, "./") && !slices.Contains(there, name) {
				t.Errorf("no file of the row declares %s:\n%s", name, row)
			}
		}
	}
}
