package respond

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Every sentence of the refusals of the web platform has a Chinese translation.
func TestRefusalsAreTranslated(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../*.go", "../*/*.go"} {
		some, err := filepath.Glob(pattern)
		stdtest.Must(t, err)
		files = append(files, some...)
	}
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		stdtest.Must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if name != "Refused" && name != "BadRequest" {
				return true
			}
			code, message := call.Args[len(call.Args)-2], call.Args[len(call.Args)-1]
			p := &Problem{Code: textOfLiteral(code), message: textOfLiteral(message)}
			if p.Code == "" {
				return true // passed on
			}
			found++
			if p.Code != "declined" && !hasHan(p.inChinese()) {
				t.Errorf("%s: %q (%s) has no Chinese sentence", path, p.message, p.Code)
			}
			return true
		})
	}
	if found < 30 {
		t.Errorf("only %d refusals were found", found)
	}
	for _, reason := range []string{"lane_full", "parked", "other"} {
		if p := Declined(reason); !hasHan(p.inChinese()) {
			t.Errorf("declined for %s: %q has no Chinese sentence", reason, p.message)
		}
	}
}

func textOfLiteral(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value) // anything but a string gives an empty text
	return text
}

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
