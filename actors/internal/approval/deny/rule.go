package deny

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Errors of rules that would match nothing.
var (
	errNotOne  = errors.New(`a rule is one plain command, such as "sudo *" or "git push *", without pipes, variables or redirections`)
	errProgram = errors.New("the first word of a rule is the name of a program")
)

// Rule is a prohibition.
type Rule struct {
	text    string
	every   bool // it forbids all commands
	program string
	words   []string // words that must occur
}

// String returns the rule as the operator wrote it.
func (r Rule) String() string { return r.text }

// ParseRule parses a rule. A * as the last word stands for any further words, which every rule allows anyway. The
// error says why a rule can never match.
func ParseRule(text string) (Rule, error) {
	if strings.TrimSpace(text) == "*" {
		return Rule{text: text, every: true}, nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return Rule{}, fmt.Errorf("%w: %w", errNotOne, err)
	}
	if len(file.Stmts) != 1 {
		return Rule{}, errNotOne
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || len(stmt.Redirs) > 0 || stmt.Background || stmt.Negated || stmt.Coprocess || len(stmt.Comments) > 0 || len(file.Last) > 0 {
		return Rule{}, errNotOne
	}
	r := Rule{text: text}
	for i, arg := range call.Args {
		if i > 0 && i == len(call.Args)-1 && arg.Lit() == "*" {
			break
		}
		w := readWord(arg)
		if !w.known {
			return Rule{}, errNotOne
		}
		r.words = append(r.words, w.text)
	}
	r.program, r.words = programName(r.words[0]), r.words[1:]
	if r.program == "" || strings.HasPrefix(r.program, "-") || strings.ContainsFunc(r.program, unlikely) {
		return Rule{}, errProgram
	}
	return r, nil
}

// unlikely reports whether no program's name contains the character.
func unlikely(c rune) bool {
	return c <= ' ' || c == 0x7f || strings.ContainsRune("*?[]{}()<>|&;'\"\\`$=", c)
}

// matches reports whether the rule forbids a command that starts with its program. Words that are not known may be
// anything.
func (r Rule) matches(words []word) bool {
	if r.every {
		return true
	}
	if words[0].program != r.program {
		return false
	}
	rest := words[1:]
	for i, want := range r.words {
		if !occurs(want, rest) && !unknownFor(i, want, rest) {
			return false
		}
	}
	return true
}

// occurs reports whether a word of a rule is among those of a command.
func occurs(want string, words []word) bool {
	if len(want) > 1 && want[0] == '-' && want[1] != '-' && flagsOccur(want[1:], words) {
		return true
	}
	for _, w := range words {
		if !w.known {
			continue
		}
		name, value, assigned := strings.Cut(w.text, "=")
		if same(want, w.text) || assigned && (same(want, name) || same(want, value)) {
			return true
		}
	}
	return false
}

// flagsOccur reports whether each letter is an option of the command, alone or in a cluster.
func flagsOccur(letters string, words []word) bool {
	var given strings.Builder
	for _, w := range words {
		if len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' {
			given.WriteString(w.text[1:])
		}
	}
	for _, l := range letters {
		if !strings.ContainsRune(given.String(), l) {
			return false
		}
	}
	return true
}

// same compares words as a person reads them: ./x and x/ mean x.
func same(a, b string) bool {
	clean := func(s string) string {
		if s == "" || s[0] == '-' {
			return s
		}
		return path.Clean(s)
	}
	return strings.EqualFold(clean(a), clean(b))
}

// unknownFor reports whether a word that is only known at run time may be the i-th word of a rule. A plain first word
// is a subcommand, which comes before all operands.
func unknownFor(i int, want string, words []word) bool {
	subcommand := i == 0 && want != "" && !strings.ContainsRune("-./~", rune(want[0]))
	for _, w := range words {
		switch {
		case !w.known:
			return true
		case subcommand && (w.text == "" || w.text[0] != '-'):
			return false
		}
	}
	return false
}

// Rules are prohibitions in the order in which they were written.
type Rules []Rule

// NewRules parses rules. Rules that can never match are left out.
func NewRules(texts []string) Rules {
	var out Rules
	for _, text := range texts {
		if r, err := ParseRule(text); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// inNames are the ASCII characters that occur in names of programs.
const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+"

// in returns the first rule all words of which a text contains, whatever else it contains.
func (rs Rules) in(text string) (Rule, bool) {
	names := strings.FieldsFunc(text, func(c rune) bool { return c <= 0x7f && !strings.ContainsRune(inNames, c) })
	has := func(want string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			return strings.EqualFold(n, strings.Trim(want, "./")) || strings.EqualFold(n, want)
		})
	}
	for _, r := range rs {
		if r.every || has(r.program) && !slices.ContainsFunc(r.words, func(w string) bool { return strings.Trim(w, "./") != "" && !has(w) }) {
			return r, true
		}
	}
	return Rule{}, false
}
