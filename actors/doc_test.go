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
)

// The tour names every actor and every message there is.
func TestTourIsComplete(t *testing.T) {
	tour, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\w+`).FindAllString(string(tour), -1)
	said := map[string]bool{}
	for _, n := range names {
		said[n] = true
	}
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
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
