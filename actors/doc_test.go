package actors_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The tour names every actor, and files that exist; the comment of package messages names
// every message.
func TestTourIsComplete(t *testing.T) {
	said := map[string]bool{}
	for _, name := range []string{"doc.go", "../messages/doc.go"} {
		text := stdtest.Read(t, name)
		for _, n := range regexp.MustCompile(`\w+`).FindAllString(string(text), -1) {
			said[n] = true
		}
		for _, file := range regexp.MustCompile(`(?:actors|adapters|persistence)/[\w/]+\.go`).FindAllString(string(text), -1) {
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s names a file that does not exist: %v", name, err)
			}
		}
	}
	folders, err := os.ReadDir(".")
	stdtest.Must(t, err)
	for _, f := range folders {
		if f.IsDir() && f.Name() != "internal" && f.Name() != "testdata" && !strings.HasSuffix(f.Name(), "test") && !said[f.Name()] {
			t.Errorf("the tour does not name the actor %s", f.Name())
		}
	}
	for _, name := range messageTypes(t) {
		if !said[name] {
			t.Errorf("the tour does not name the message %s", name)
		}
	}
}

// messageTypes are the struct types of package messages that are sent: all but
// the ones that only occur inside of others.
func messageTypes(t *testing.T) []string {
	t.Helper()
	inside := map[string]bool{"Address": true, "CallIntent": true, "RowID": true, "Receipt": true, "FileRef": true, "Asker": true, "StepInput": true, "Words": true, "Picture": true}
	files, err := filepath.Glob("../messages/*.go")
	stdtest.Must(t, err)
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		stdtest.Must(t, err)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.IsExported() && !inside[ts.Name.Name] {
					if _, ok := ts.Type.(*ast.StructType); ok {
						names = append(names, ts.Name.Name)
					}
				}
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("found only %d message types", len(names))
	}
	return names
}
