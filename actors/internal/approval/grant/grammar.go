package grant

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// confirm says whether a parser of the whole bash grammar reads the same words
// and redirections in a command as the scanner did, as one simple command. The
// scanner is the stricter one and goes first, so that this parser sees nothing
// nested and nothing expensive.
func confirm(cmd command) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd.text), "")
	if err != nil || len(file.Stmts) != 1 {
		return false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown {
		return false
	}
	return slices.EqualFunc(cmd.words, call.Args, func(w word, arg *syntax.Word) bool {
		value, ok := literal(arg)
		return ok && value == w.text
	}) && slices.EqualFunc(cmd.redirects, stmt.Redirs, func(want string, r *syntax.Redirect) bool {
		number := ""
		if r.N != nil {
			number = r.N.Value
		}
		target, ok := literal(r.Word)
		return ok && r.Hdoc == nil && number+r.Op.String()+target == want
	})
}

// literal is the value of a word that consists of plain and quoted text.
func literal(w *syntax.Word) (string, bool) {
	if text := w.Lit(); text != "" && !strings.Contains(text, "\\") {
		return text, true // most words
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			unescape(&b, part.Value, "")
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return "", false
			}
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				unescape(&b, lit.Value, "$`\"\\")
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape removes the backslashes of a literal. With a set of bytes, as in
// double quotes, only those can be escaped.
func unescape(b *strings.Builder, text, only string) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\\' || i+1 == len(text) {
			b.WriteByte(c)
			continue
		}
		i++
		switch next := text[i]; {
		case only != "" && strings.IndexByte(only, next) < 0:
			b.WriteByte('\\')
			b.WriteByte(next)
		default:
			b.WriteByte(next)
		}
	}
}
