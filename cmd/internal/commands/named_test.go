package commands

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

// In a group a command needs the name of the bot, so no text for people names one without what follows its name there.
// The list of commands says so once; the commands start and more are for private chats only.
func TestCommandsInWordsTakeTheName(t *testing.T) {
	var names []string
	for _, o := range orders(true) {
		if !o.hidden {
			names = append(names, o.name)
		}
	}
	command := regexp.MustCompile(`(^|[^\w/])/(` + strings.Join(names, "|") + `)\b`)
	seen := 0
	check := func(file string, f *ast.File) {
		named := map[*ast.BasicLit]bool{} // texts that what follows the name of a command is added to
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				of, _ := n.Type.(*ast.ArrayType)
				if of != nil {
					elt, _ := of.Elt.(*ast.Ident)
					return elt == nil || elt.Name != "order"
				}
			case *ast.BinaryExpr:
				left := n.X
				if deeper, ok := left.(*ast.BinaryExpr); ok {
					left = deeper.Y
				}
				if text, ok := left.(*ast.BasicLit); ok {
					named[text] = followsName(n.Y)
				}
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if n.Kind != token.STRING || err != nil {
					return true
				}
				for _, at := range command.FindAllStringIndex(text, -1) {
					seen++
					if alone := at[0] == 0 && at[1] == len(text); !alone && (at[1] < len(text) || !named[n]) {
						t.Errorf("%s names a command without what follows its name in a group: %s", file, n.Value)
					}
				}
			}
			return true
		})
	}
	for _, root := range []string{"../../../actors/chat", "../../../adapters/platform/internal", "../../../adapters/platform/telegram", "../../../adapters/platform/feishu", "../budgets", "."} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				check(path, f)
			}
			return err
		})
		stdtest.Must(t, err)
	}
	if seen < 80 {
		t.Errorf("only %d commands were found in texts", seen)
	}
}

// followsName reports whether an expression is what follows the name of a command.
func followsName(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "at"
	case *ast.SelectorExpr:
		return x.Sel.Name == "At"
	case *ast.CallExpr:
		return followsName(x.Fun)
	}
	return false
}
