package deny

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command; it is not known if its value exists only at run time.
type word struct {
	text    string
	program string // the program that the text names, without its path
	known   bool
}

func known(text string) word { return word{text: text, program: programName(text), known: true} }

func parser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// words returns the words of a command, with braces expanded.
func words(args []*syntax.Word) []word {
	var out []word
	for _, arg := range args {
		split := &syntax.Word{Parts: slices.Clone(arg.Parts)} // the tree is still being walked
		if !syntax.SplitBraces(split) {
			out = append(out, readWord(arg))
			continue
		}
		out = append(out, expanded(split)...)
	}
	return out
}

const (
	// maxBraces is how many braces of one word are expanded, and maxExpanded to how many words.
	// Legitimate commands have fewer; the number of words grows exponentially with the braces.
	maxBraces   = 4
	maxExpanded = 256
)

// expanded returns the words that one with braces expands to; a single unknown word replaces those
// that are too many.
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

// readWord returns a word without its quotes. File patterns and everything that a shell expands are
// unknown.
func readWord(w *syntax.Word) word {
	var b strings.Builder
	for _, part := range w.Parts {
		if !appendPart(&b, part) {
			return word{}
		}
	}
	return known(b.String())
}

// document is the text that a redirection inserts. If its end mark is not quoted, backslashes
// escape a few characters in it.
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

func appendPart(b *strings.Builder, part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		return appendLiteral(b, part.Value, "")
	case *syntax.SglQuoted:
		if !part.Dollar {
			b.WriteString(part.Value)
			return true
		}
		text, _, err := expand.Format(nil, part.Value, nil)
		b.WriteString(text)
		return err == nil
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			lit, ok := inner.(*syntax.Lit)
			if !ok || !appendLiteral(b, lit.Value, "$`\"\\\n") {
				return false
			}
		}
		return true
	}
	return false
}

// appendLiteral appends a text without its backslashes. If only is empty, the text is outside of
// quotes: any character may be escaped, and pattern characters match files.
func appendLiteral(b *strings.Builder, text, only string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0):
			if i++; text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case only == "" && strings.IndexByte("*?[", c) >= 0 && text != "[":
			return false
		default:
			b.WriteByte(c)
		}
	}
	return true
}
