package archtest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestTopLevel(t *testing.T) {
	folders := []string{"actors", "adapters", "cmd", "config", "docs", "messages", "persistence"}
	files := []string{
		"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "README.zh.md", "SECURITY.md", "go.mod", "go.sum",
		".gitattributes", ".gitignore", ".golangci.yml", ".dockerignore", "Dockerfile", "NOTICE",
	}
	aside := []string{".git", ".ci", ".github", "bin", "node_modules"} // no part of the code, or not kept
	entries, err := os.ReadDir(root(t))
	stdtest.Must(t, err)
	var found []string
	for _, e := range entries {
		switch name := e.Name(); {
		case slices.Contains(aside, name):
		case e.IsDir():
			found = append(found, name)
		case !slices.Contains(files, name) && !ignored(name):
			t.Errorf("%s has no place at the top level", name)
		}
	}
	stdtest.Diff(t, "folders at the top level", folders, found)
}

// ignored reports names that builds and editors create and git ignores.
func ignored(name string) bool {
	return name == ".env" || strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".out")
}

func TestChangelog(t *testing.T) {
	text := stdtest.Read(t, filepath.Join(root(t), "CHANGELOG.md"))
	head := regexp.MustCompile(`(?m)^## (\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2})$`)
	if !bytes.HasPrefix(text, []byte("# Changelog\n")) || !head.Match(text) {
		t.Error("CHANGELOG.md has no heading of an unreleased or released version")
	}
	mark := regexp.MustCompile(`^- \[(CHANGE|FEATURE|ENHANCEMENT|BUGFIX|SECURITY)\] `)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "- ") && !mark.MatchString(line) {
			t.Errorf("an entry without its mark: %s", line)
		}
	}
}

// TestFilesSpeakOfTheProduct: nothing of the machines that it was made on.
func TestFilesSpeakOfTheProduct(t *testing.T) {
	strange := []string{"/wo" + "rk/", "/ro" + "ot/"}
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if slices.Contains([]string{".git", "bin", "node_modules", "conformance"}, e.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".yml", ".json", ".txtar", ".sh", ""}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, s := range strange {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s speaks of %s", strings.TrimPrefix(path, dir+"/"), s)
			}
		}
		return nil
	})
	stdtest.Must(t, err)
}
