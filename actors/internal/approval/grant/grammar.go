package grant

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// confirm reports whether a full parser of the bash grammar reads the same words and redirections
// in a command as the scanner did, as one simple command. The scanner is stricter and runs first,
// so that this parser sees nothing nested and nothing expensive: it takes hundreds of nanoseconds a
// word, and gets only those words of a long command that a grammar could read differently.
func confirm(cmd *command) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd.text), "")
	if err != nil || len(file.Stmts) != 1 {
		return false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown {
		return false
	}
	args := call.Args
	for i := range cmd.words {
		if cmd.words[i].cut {
			continue
		}
		if len(args) == 0 || !reads(args[0], cmd.word(i).text) {
			return false
		}
		args = args[1:]
	}
	return len(args) == 0 && slices.EqualFunc(cmd.redirects, stmt.Redirs, func(want string, r *syntax.Redirect) bool {
		if r.N != nil {
			var ok bool
			if want, ok = strings.CutPrefix(want, r.N.Value); !ok {
				return false
			}
		}
		target, ok := strings.CutPrefix(want, r.Op.String())
		return ok && r.Hdoc == nil && target != "" && target[0] != '&' && reads(r.Word, target)
	})
}

// reads reports whether a word consists of plain and quoted text and equals the given one without
// its quotes.
func reads(w *syntax.Word, want string) bool {
	for _, part := range w.Parts {
		var ok bool
		switch part := part.(type) {
		case *syntax.Lit:
			want, ok = cutEscaped(want, part.Value, "")
		case *syntax.SglQuoted:
			if part.Dollar {
				return false
			}
			want, ok = strings.CutPrefix(want, part.Value)
		case *syntax.DblQuoted:
			want, ok = cutQuoted(want, part)
		default:
			return false
		}
		if !ok {
			return false
		}
	}
	return want == ""
}

// cutQuoted removes the contents of double quotes from the front of a text.
func cutQuoted(text string, quoted *syntax.DblQuoted) (rest string, ok bool) {
	for _, inner := range quoted.Parts {
		lit, ok := inner.(*syntax.Lit)
		if !ok {
			return text, false
		}
		if text, ok = cutEscaped(text, lit.Value, "$`\"\\"); !ok {
			return text, false
		}
	}
	return text, !quoted.Dollar
}

// cutEscaped removes a literal, without its backslashes, from the front of a text. If a set of
// bytes is given, as in double quotes, only those can be escaped.
func cutEscaped(text, literal, only string) (rest string, ok bool) {
	for i := 0; i < len(literal); i++ {
		if literal[i] == '\\' && i+1 < len(literal) && (only == "" || strings.IndexByte(only, literal[i+1]) >= 0) {
			i++
		}
		if text == "" || text[0] != literal[i] {
			return text, false
		}
		text = text[1:]
	}
	return text, true
}
