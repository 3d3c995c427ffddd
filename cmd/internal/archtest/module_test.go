package archtest_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const modulePath = "github.com/shipmyagent/shipmyagent"

// pkg is what the rules look at of a package.
type pkg struct {
	ImportPath   string
	Dir          string
	Doc          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Module       *struct{ Path, Version, Dir string }
}

// rel is the path within the module; "." is its root.
func (p pkg) rel() string { return relative(p.ImportPath) }

// own are the imports from this module, as paths within it.
func (p pkg) own() []string {
	var out []string
	for _, path := range p.Imports {
		if path == modulePath || strings.HasPrefix(path, modulePath+"/") {
			out = append(out, relative(path))
		}
	}
	return out
}

func relative(importPath string) string {
	if importPath == modulePath {
		return "."
	}
	return strings.TrimPrefix(importPath, modulePath+"/")
}

// top is the first element of a path within the module.
func top(rel string) string {
	head, _, _ := strings.Cut(rel, "/")
	return head
}

// under reports whether a path is folder or lies below it.
func under(rel, folder string) bool {
	return rel == folder || strings.HasPrefix(rel, folder+"/")
}

// goList runs go list in the module's root.
func goList(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-e"}, args...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

func packages(t *testing.T) []pkg {
	t.Helper()
	pkgs := goList(t, "-json=ImportPath,Dir,Doc,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages; the rules would hold for nothing", len(pkgs))
	}
	return pkgs
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	stdtest.Must(t, err)
	return dir
}

type source struct {
	rel  string // path within the module
	test bool
	fset *token.FileSet
	file *ast.File
}

func (s source) lines() int { return s.fset.File(s.file.FileStart).LineCount() }

func (s source) line(n ast.Node) int { return s.fset.Position(n.Pos()).Line }

// sources parses all files of the module, tests included. They share their positions.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	fset := token.NewFileSet()
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			out = append(out, parseInto(t, fset, filepath.Join(p.Dir, name), filepath.Join(p.rel(), name), nil))
		}
	}
	return out
}

func parse(t *testing.T, path, rel string, text any) source {
	t.Helper()
	return parseInto(t, token.NewFileSet(), path, rel, text)
}

// parseInto parses a file whose positions it adds to a set.
func parseInto(t *testing.T, fset *token.FileSet, path, rel string, text any) source {
	t.Helper()
	s := source{rel: rel, test: strings.HasSuffix(rel, "_test.go"), fset: fset}
	file, err := parser.ParseFile(s.fset, path, text, parser.ParseComments)
	stdtest.Must(t, err)
	s.file = file
	return s
}
