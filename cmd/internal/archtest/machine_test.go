package archtest_test

import (
	"go/ast"
	"slices"
	"testing"
)

// TestDecisionsReadNoClock: whoever decides about a chat gets the time with the input.
func TestDecisionsReadNoClock(t *testing.T) {
	for _, src := range sources(t) {
		if src.test || !under(src.rel, "actors/chat/machine") && !under(src.rel, "persistence/journal") {
			continue
		}
		ast.Inspect(src.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, sel.Sel.Name) {
				t.Errorf("%s:%d uses time.%s", src.rel, src.line(n), sel.Sel.Name)
			}
			return true
		})
	}
}

// TestOnlyTheJournalChangesStates: the state of a chat is what its facts make of it. Outside
// of persistence/journal nothing is assigned to a member of it.
func TestOnlyTheJournalChangesStates(t *testing.T) {
	for _, src := range sources(t) {
		if src.test || top(src.rel) != "actors" && top(src.rel) != "cmd" {
			continue
		}
		ast.Inspect(src.file, func(n ast.Node) bool {
			var targets []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				targets = n.Lhs
			case *ast.IncDecStmt:
				targets = []ast.Expr{n.X}
			}
			for _, target := range targets {
				if ofState(target) {
					t.Errorf("%s:%d assigns to a member of a chat's state", src.rel, src.line(n))
				}
			}
			return true
		})
	}
}

// ofState reports whether an expression is a member of something that is called state, as
// c.State.Seq, state.Run.Step and c.State.History[0] are.
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
		return x.Sel.Name == "state" || x.Sel.Name == "State"
	}
	return false
}
