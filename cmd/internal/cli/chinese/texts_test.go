package chinese

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// textsOf are the English texts in the sources below some folders that people read on a terminal: what failed and what
// helps, and the facts and fixes of doctor. What is put in is %s.
func textsOf(t *testing.T, folders ...string) (texts []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, ok := n.(*ast.CompositeLit); ok && strings.HasSuffix(nameOf(l.Type), "Opts") { // of a metric
					return false
				}
				for _, e := range read(n) {
					texts = append(texts, forms(e)...)
				}
				return true
			})
			return nil
		})
		stdtest.Must(t, err)
	}
	return texts
}

// read are the expressions in a node that people read.
func read(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if name, ok := n.Key.(*ast.Ident); ok && (name.Name == "What" || name.Name == "Help" || name.Name == "Failed" || name.Name == "Off") {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && (to.Sel.Name == "What" || to.Sel.Name == "Help") {
			return n.Rhs[:1]
		}
	case *ast.CallExpr:
		switch name := nameOf(n.Fun); {
		case len(n.Args) == 4 && (name == "checkup.New" || name == ".New"):
			return n.Args[2:]
		case name == "console.ChatFailure":
			return n.Args[1:3]
		}
	}
	return nil
}

// forms are the texts that an expression may be.
func forms(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return []string{text}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			var all []string
			for _, left := range forms(e.X) {
				for _, right := range forms(e.Y) {
					all = append(all, left+right)
				}
			}
			return all
		}
	case *ast.CallExpr:
		switch nameOf(e.Fun) {
		case "fmt.Sprintf":
			return []string{verbs.ReplaceAllStringFunc(forms(e.Args[0])[0], verb)}
		case "cmp.Or":
			var all []string
			for _, arg := range e.Args {
				all = append(all, forms(arg)...)
			}
			return all
		}
	}
	return []string{"%s"}
}

var verbs = regexp.MustCompile(`%(\[\d\])?[a-z]`)

// verb is how a verb is written in the list.
func verb(v string) string {
	if strings.HasSuffix(v, "q") {
		return `"%s"`
	}
	return "%s"
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return "." + e.Name
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok {
			return of.Name + "." + e.Sel.Name
		}
	}
	return ""
}
