package archtest_test

import (
	"fmt"
	"go/ast"
	"path"
	"strconv"
	"strings"
	"testing"
)

const (
	maxFileLines = 600
	maxFuncLines = 80
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		if !strings.HasPrefix(p.Doc, "Package ") && !strings.HasPrefix(p.Doc, "Command ") {
			t.Errorf("%s has no package comment", p.rel())
		}
	}
}

func TestSources(t *testing.T) {
	for _, s := range sources(t) {
		for _, fault := range sourceFaults(s) {
			t.Error(fault)
		}
	}
}

// sourceFaults holds one file against the conventions.
func sourceFaults(s source) []string {
	if ast.IsGenerated(s.file) {
		return nil
	}
	var out []string
	fault := func(line int, format string, args ...any) {
		out = append(out, fmt.Sprintf("%s:%d: ", s.rel, line)+fmt.Sprintf(format, args...))
	}
	if n := s.lines(); n > maxFileLines {
		fault(n, "%d lines, at most %d", n, maxFileLines)
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := s.fset.Position(n.End()).Line - s.line(n) + 1; lines > maxFuncLines && !s.test {
				fault(s.line(n), "%s has %d lines, at most %d", n.Name.Name, lines, maxFuncLines)
			}
			if n.Name.Name == "init" && n.Recv == nil {
				fault(s.line(n), "an init function; make it a call")
			}
		case *ast.GoStmt:
			if top(s.rel) == "actors" && !s.test && !under(s.rel, "actors/internal/pipe") && !isTestPackage(path.Dir(s.rel)) {
				fault(s.line(n), "a go statement; use pipe")
			}
		case *ast.SelectorExpr:
			if why := forbidden(s, n); why != "" {
				fault(s.line(n), "%s", why)
			}
		}
		return true
	})
	return out
}

// forbidden says why a selector may not be used; empty: it may.
func forbidden(s source, sel *ast.SelectorExpr) string {
	x, ok := sel.X.(*ast.Ident)
	if !ok || s.test {
		return ""
	}
	switch path := importedAs(s.file, x.Name); {
	case path == "time" && sel.Sel.Name == "Sleep":
		return "time.Sleep; wait for a condition, a timer or a context"
	case path == "fmt" && strings.HasPrefix(sel.Sel.Name, "Print") && top(s.rel) != "cmd":
		return "fmt." + sel.Sel.Name + "; nothing but cmd writes to stdout"
	default:
		return ""
	}
}

// importedAs returns the path that a file imports under a name, or an empty string.
func importedAs(f *ast.File, name string) string {
	for _, imp := range f.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		base := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			base = imp.Name.Name
		}
		if base == name {
			return path
		}
	}
	return ""
}

func TestSourceRulesBite(t *testing.T) {
	body := func(n int) string { return strings.Repeat("\t_ = 1\n", n) }
	tests := []struct {
		name, rel, text string
		want            string // part of the only fault; empty: none
	}{
		{"plain", "config/a.go", "package a\n\nfunc F() {}\n", ""},
		{"a long file", "config/a.go", "package a\n" + strings.Repeat("\n", 600), "at most 600"},
		{"a long function", "config/a.go", "package a\n\nfunc F() {\n" + body(80) + "}\n", "F has 82 lines"},
		{"a long test function", "config/a_test.go", "package a\n\nfunc F() {\n" + body(80) + "}\n", ""},
		{"init", "config/a.go", "package a\n\nfunc init() {}\n", "init function"},
		{"a method named init", "config/a.go", "package a\n\ntype T struct{}\n\nfunc (T) init() {}\n", ""},
		{"sleep", "actors/chat/a.go", "package a\n\nimport \"time\"\n\nfunc F() { time.Sleep(1) }\n", "time.Sleep"},
		{"sleep by another name", "cmd/a.go", "package a\n\nimport zz \"time\"\n\nfunc F() { zz.Sleep(1) }\n", "time.Sleep"},
		{"something else that sleeps", "cmd/a.go", "package a\n\nvar time struct{ Sleep int }\n\nvar X = time.Sleep\n", ""},
		{"printing", "persistence/a.go", "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Println() }\n", "fmt.Println"},
		{"printing in a command", "cmd/a.go", "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Println() }\n", ""},
		{"go in an actor", "actors/chat/a.go", "package a\n\nfunc F() { go F() }\n", "use pipe"},
		{"go in a package of tests", "actors/simtest/a.go", "package a\n\nfunc F() { go F() }\n", ""},
		{"go in pipe", "actors/internal/pipe/a.go", "package a\n\nfunc F() { go F() }\n", ""},
		{"go in an adapter", "adapters/platform/web/a.go", "package a\n\nfunc F() { go F() }\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := sourceFaults(parse(t, tt.rel, tt.rel, tt.text))
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("faults = %q, want none", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("faults = %q, want one with %q", got, tt.want)
			}
		})
	}
}
