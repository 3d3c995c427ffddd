package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var (
	fileName = regexp.MustCompile("`((?:actors|adapters|cmd|messages)/[^` ]*)`(?: (Test\\w+))?")
	kindRow  = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([0-9]+) \\|")
)

// TestReferenceIsTrue shows that what docs/reference/ai-sdk.md points at exists:
// files, tests, scenarios, and the numbers of vectors.
func TestReferenceIsTrue(t *testing.T) {
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "docs", "reference", "ai-sdk.md"))
	stdtest.Must(t, err)
	page := strings.ReplaceAll(string(data), "\n", " ")
	for _, found := range fileName.FindAllStringSubmatch(page, -1) {
		file, test := filepath.Join(root, filepath.FromSlash(found[1])), found[2]
		if test == "" {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
			continue
		}
		if code, err := os.ReadFile(file); err != nil || !strings.Contains(string(code), "func "+test+"(") {
			t.Errorf("%s holds no %s (%v)", found[1], test, err)
		}
	}
	scenarios, err := filepath.Glob(filepath.Join("testdata", "e2e", "scenarios", "*.mjs"))
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	own := []string{"react.mjs", "page.mjs", "upload.mjs", "pictures.mjs"} // of the page and the example, not of the protocol
	for _, s := range scenarios {
		if name := filepath.Base(s); !slices.Contains(own, name) && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("scenario %s is not on the page", name)
		}
	}
	wantVectors(t, filepath.Join(root, "messages", "testdata", "conformance", "manifest.json"), string(data))
}

// wantVectors compares the table of kinds with the manifest.
func wantVectors(t *testing.T, manifest, page string) {
	t.Helper()
	data := stdtest.Read(t, manifest)
	var m struct {
		Total int
		Files []struct {
			Kind  string
			Cases int
		}
	}
	stdtest.Must(t, json.Unmarshal(data, &m))
	cases := map[string]int{}
	for _, f := range m.Files {
		cases[f.Kind] += f.Cases
	}
	rows := kindRow.FindAllStringSubmatch(page, -1)
	if len(rows) != len(cases) || !strings.Contains(page, strconv.Itoa(m.Total)+" cases in") {
		t.Errorf("the page has %d kinds, the manifest %d and %d cases in all", len(rows), len(cases), m.Total)
	}
	for _, row := range rows {
		if row[2] != strconv.Itoa(cases[row[1]]) {
			t.Errorf("%s: the page says %s cases, the manifest %d", row[1], row[2], cases[row[1]])
		}
	}
}
