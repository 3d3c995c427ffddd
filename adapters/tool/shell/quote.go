package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quoteAll is a text that a shell reads as exactly these words, or "" if that is not certain.
func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	text := strings.Join(out, " ")
	if back, bare, ok := single(text); !ok || !bare || !slices.Equal(back, words) {
		return ""
	}
	return text
}

// quote quotes a word for a shell, unless all its characters are harmless.
func quote(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_./:@%+,-", c)
	}
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }) && !slices.Contains(reserved(), word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// reserved are words that start something other than a simple command.
func reserved() []string {
	return []string{
		"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function", "select", "time", "coproc",
		"declare", "local", "export", "readonly", "typeset", "nameref", "let",
	}
}

// single returns the words of a text that is one simple command of static words, and whether it has no redirections.
func single(text string) (words []string, bare, ok bool) {
	file, err := parse(text)
	if err != nil || len(file.Stmts) != 1 {
		return nil, false, false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || stmt.Negated || stmt.Background || stmt.Coprocess {
		return nil, false, false
	}
	words = make([]string, len(call.Args))
	for i, w := range call.Args {
		if words[i], ok = static(w); !ok {
			return nil, false, false
		}
	}
	return words, len(stmt.Redirs) == 0, true
}

func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// static is the value of a word, before expansion of globs and braces, if it is known without running anything.
func static(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(part.Value, "~") {
				return "", false
			}
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
				unescape(&b, lit.Value, "$`\"\\\n")
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape removes the backslashes of a literal. With a set of bytes, as in double quotes, only those can be escaped.
// Continued lines are joined.
func unescape(b *strings.Builder, text, only string) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\\' || i+1 == len(text) || only != "" && strings.IndexByte(only, text[i+1]) < 0 {
			b.WriteByte(c)
			continue
		}
		if i++; text[i] != '\n' {
			b.WriteByte(text[i])
		}
	}
}
