package deny

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is a word of a command. It is not known if its value is only determined at run time.
type word struct {
	text    string
	program string // program that the text names, without its path
	known   bool
	shown   string // what is known of a word that is not
}

func known(text string) word { return word{text: text, program: programName(text), known: true} }

func parser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// words returns the words of a command, with braces expanded.
func words(args []*syntax.Word) []word {
	var out []word
	for _, arg := range args {
		split := &syntax.Word{Parts: slices.Clone(arg.Parts)} // a copy, because the tree is still being walked
		if !syntax.SplitBraces(split) {
			out = append(out, readWord(arg))
			continue
		}
		out = append(out, expanded(split)...)
	}
	return out
}

const (
	// maxBraces is how many braces of one word are expanded, and maxExpanded is the maximum number of resulting words.
	// People do not write more, and the number grows exponentially with the braces.
	maxBraces   = 4
	maxExpanded = 256
)

// expanded returns the words that a word with braces expands to. If there are too many, an unknown word stands for the
// rest.
func expanded(split *syntax.Word) []word {
	braces := 0
	for _, part := range split.Parts {
		if _, ok := part.(*syntax.BraceExp); ok {
			braces++
		}
	}
	if braces > maxBraces {
		return []word{{}}
	}
	var out []word
	for w, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(out) == maxExpanded {
			return append(out, word{})
		}
		out = append(out, readWord(w))
	}
	return out
}

// readWord returns a word without its quotes. File patterns and shell expansions are not known.
func readWord(w *syntax.Word) word {
	text, sure, pattern := literal(w)
	if !sure || pattern {
		return word{shown: text}
	}
	return known(text)
}

// literals returns the texts of all words in a tree.
func literals(root syntax.Node) []string {
	var out []string
	syntax.Walk(root, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			text, _, _ := literal(w)
			out = append(out, text)
		}
		return true
	})
	return out
}

// literal returns the text of a word without its quotes and without its shell expansions, whether it has no expansions,
// and whether it is a file pattern.
func literal(w *syntax.Word) (text string, sure, pattern bool) {
	var b strings.Builder
	sure = true
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			pattern = appendLiteral(&b, part.Value, "") || pattern
		case *syntax.SglQuoted:
			text := part.Value
			if part.Dollar {
				var err error
				text, _, err = expand.Format(nil, text, nil)
				sure = sure && err == nil
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if sure = sure && ok; ok {
					appendLiteral(&b, lit.Value, "$`\"\\\n")
				}
			}
		default:
			sure = false
		}
	}
	return b.String(), sure, pattern
}

// printed returns what a statement writes if it is a plain echo or printf, and whether that is known.
func printed(s *syntax.Stmt) (string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 {
		return "", false
	}
	list := words(call.Args)
	name := list[0].program
	if name != "echo" && name != "printf" || slices.ContainsFunc(list, func(w word) bool { return !w.known }) {
		return "", false
	}
	if format := list[1].text; name == "printf" && strings.Contains(format, "%") {
		if len(list) < 3 || strings.TrimSuffix(format, `\n`) != "%s" {
			return "", false
		}
		list = list[1:]
	}
	text := ""
	for _, w := range list[1:] {
		text += w.text + " "
	}
	text = strings.ReplaceAll(strings.TrimSuffix(text, " "), `\n`, "\n")
	return text, !strings.Contains(text, `\`)
}

// document returns the text of a here-document. If its delimiter is not quoted, backslashes escape some characters in
// it.
func document(d *syntax.Redirect) word {
	if d.Hdoc == nil {
		return known("")
	}
	raw := !readWord(d.Word).known
	for _, part := range d.Word.Parts {
		lit, plain := part.(*syntax.Lit)
		raw = raw || !plain || strings.Contains(lit.Value, "\\")
	}
	var b strings.Builder
	for _, part := range d.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			return word{}
		case raw:
			b.WriteString(lit.Value)
		default:
			appendLiteral(&b, lit.Value, "$`\\\n")
		}
	}
	return known(b.String())
}

// appendLiteral appends a text without its escaping backslashes. With an empty only, as outside of quotes, every
// character can be escaped. It reports whether the text is a file pattern then.
func appendLiteral(b *strings.Builder, text, only string) (pattern bool) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\\' || i+1 == len(text) || only != "" && strings.IndexByte(only, text[i+1]) < 0 {
			pattern = pattern || only == "" && strings.IndexByte("*?[", c) >= 0 && text != "["
			b.WriteByte(c)
		} else if i++; text[i] != '\n' {
			b.WriteByte(text[i])
		}
	}
	return pattern
}

// programName returns the name of a program without its path, in lower case, because some file systems ignore case.
func programName(word string) string {
	if word == "" || strings.HasSuffix(word, "/") {
		return ""
	}
	return strings.ToLower(path.Base(word))
}

// fields returns the words of a plain text.
func fields(text string) []word {
	var out []word
	for f := range strings.FieldsSeq(strings.TrimPrefix(text, "!")) {
		out = append(out, known(f))
	}
	return out
}

// unescaped returns a text with the signs of substitutions that prompts and printf read in it.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(
		`\0044`, "$", `\044`, "$", `\44`, "$", `\x24`, "$", `\u24`, "$", `\u0024`, "$", `\U24`, "$", `\U00000024`, "$",
		`\0140`, "`", `\140`, "`", `\x60`, "`", `\u60`, "`", `\u0060`, "`", `\U60`, "`", `\U00000060`, "`",
	).Replace(text)
}
