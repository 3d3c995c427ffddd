package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDecisionsReadNoClock: whoever decides about a chat gets the time with the input.
func TestDecisionsReadNoClock(t *testing.T) {
	for name, file := range parsed(t, "actors/chat/machine", "persistence/journal") {
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, sel.Sel.Name) {
				t.Errorf("%s uses time.%s", name, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestOnlyTheJournalChangesStates: the state of a chat is what its facts make of it. Outside
// of persistence/journal nothing is assigned to a member of it.
func TestOnlyTheJournalChangesStates(t *testing.T) {
	for name, file := range parsed(t, "actors", "cmd") {
		ast.Inspect(file, func(n ast.Node) bool {
			var targets []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				targets = n.Lhs
			case *ast.IncDecStmt:
				targets = []ast.Expr{n.X}
			}
			for _, target := range targets {
				if ofState(target) {
					t.Errorf("%s assigns to a member of a chat's state", name)
				}
			}
			return true
		})
	}
}

// ofState reports whether an expression is a member of something that is called state, as
// c.state.Seq, state.Run.Step and c.State().History[0] are.
func ofState(e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			if isState(x.X) && ast.IsExported(x.Sel.Name) {
				return true
			}
			e = x.X
		default:
			return false
		}
	}
}

func isState(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "state"
	case *ast.SelectorExpr:
		return x.Sel.Name == "state"
	case *ast.CallExpr:
		sel, ok := x.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "State"
	}
	return false
}

// parsed are the files below folders that are no tests, by their names.
func parsed(t *testing.T, folders ...string) map[string]*ast.File {
	t.Helper()
	base, out := root(t), map[string]*ast.File{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(base, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(base, path)
			out[rel] = file
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
