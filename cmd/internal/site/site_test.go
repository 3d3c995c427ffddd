package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// looked is one page of a site as a browser reads it.
type looked struct {
	links, ids, loads []string
}

func look(t *testing.T, file string) (out looked) {
	t.Helper()
	f, err := os.Open(file)
	stdtest.Must(t, err)
	defer func() { _ = f.Close() }()
	doc, err := html.Parse(f)
	stdtest.Must(t, err)
	for n := range doc.Descendants() {
		if n.Data == "script" || n.Data == "iframe" {
			t.Errorf("%s has a %s", file, n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				out.ids = append(out.ids, a.Val)
			case a.Key == "href" && n.Data == "a":
				out.links = append(out.links, a.Val)
			case a.Key == "src", a.Key == "href":
				out.loads = append(out.loads, a.Val)
			case strings.HasPrefix(a.Key, "on"), a.Key == "style":
				t.Errorf("%s has the attribute %s", file, a.Key)
			}
		}
	}
	return out
}

// TestSite: every link of every page leads to something, nothing comes from elsewhere, and every page can be reached
// from the first one.
func TestSite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	stdtest.Must(t, build("../../..", out))
	pages := map[string]looked{}
	stdtest.Must(t, fs.WalkDir(os.DirFS(out), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".html" {
			pages[name] = look(t, filepath.Join(out, name))
		}
		return err
	}))
	reached := map[string]bool{"index.html": true}
	for todo := []string{"index.html"}; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		for _, to := range pages[name].loads {
			if u, err := url.Parse(to); err != nil || u.IsAbs() || u.Host != "" {
				t.Errorf("%s loads %s", name, to)
			} else if _, err := os.Stat(filepath.Join(out, path.Dir(name), u.Path)); err != nil {
				t.Errorf("%s loads %s, which is missing", name, to)
			}
		}
		for _, to := range pages[name].links {
			if next := follow(t, out, pages, name, to); next != "" && !reached[next] {
				reached[next] = true
				todo = append(todo, next)
			}
		}
	}
	for name := range pages {
		if !reached[name] {
			t.Errorf("nothing leads to %s", name)
		}
	}
	if len(pages) < 40 {
		t.Errorf("the site has %d pages", len(pages))
	}
}

// follow is the page of the site that a link leads to, or empty for another place.
func follow(t *testing.T, out string, pages map[string]looked, name, to string) string {
	t.Helper()
	u, err := url.Parse(to)
	switch {
	case err != nil, u.Scheme == "" && u.Host != "", u.Scheme != "" && u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto":
		t.Errorf("%s has the link %q", name, to)
		return ""
	case u.IsAbs():
		if file, found := strings.CutPrefix(to, forge); found {
			if _, err := os.Stat(filepath.Join("../../..", strings.Split(file, "#")[0])); err != nil {
				t.Errorf("%s has a link to %s, which the repository lacks", name, to)
			}
		}
		return ""
	}
	next := name
	if u.Path != "" {
		next = path.Join(path.Dir(name), u.Path)
	}
	if _, err := os.Stat(filepath.Join(out, next)); err != nil {
		t.Errorf("%s has a link to %s, which is missing", name, to)
		return ""
	}
	if page, ok := pages[next]; ok && u.Fragment != "" {
		found := false
		for _, id := range page.ids {
			found = found || id == u.Fragment
		}
		if !found {
			t.Errorf("%s has a link to %s, and there is no such heading", name, to)
		}
	}
	if path.Ext(next) != ".html" {
		return ""
	}
	return next
}

// Only a site is replaced.
func TestOtherFoldersStay(t *testing.T) {
	out := t.TempDir()
	if err := build("../../..", out); err == nil || !strings.Contains(err.Error(), "no site") {
		t.Errorf("build = %v", err)
	}
}

// A page whose link leads nowhere stops the build, and says which one.
func TestDeadLink(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"README.md": "# A\n[x](docs/README.md)", "docs/README.md": "# B\n[gone](gone.md)"} {
		file := filepath.Join(root, name)
		stdtest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		stdtest.Must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	err := build(root, filepath.Join(t.TempDir(), "out"))
	if err == nil || !strings.Contains(err.Error(), "docs/README.md: the link to gone.md leads nowhere") {
		t.Errorf("build = %v", err)
	}
}
