package grant

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

// Rule is a parsed rule.
type Rule struct {
	// Words are the words of the rule without the open end.
	Words []string
	// Open is set if the rule ended in *, which allows any further plain operands.
	Open bool
	// Runner is set if the program runs files that the rule names. The grant ends once one of them has changed.
	Runner bool
}

// ParseRule parses a rule: one simple command of static words, the last of which may be a bare *. It returns false for
// a rule that is void, which means that it covers nothing.
func ParseRule(text string, policy *Policy) (Rule, bool) {
	if policy == nil || !printable(text) || hasControl(text) {
		return Rule{}, false
	}
	cmd, ok := scan(text)
	if !ok || len(cmd.redirects) > 0 || cmd.ended || cmd.comment {
		return Rule{}, false
	}
	var r Rule
	n := len(cmd.words)
	if last := cmd.word(n - 1); last.text == "*" && !last.static() && !last.quoted {
		r.Open = true
		n--
	}
	r.Words = make([]string, 0, n)
	for i := range n {
		w := cmd.word(i)
		if !w.static() {
			return Rule{}, false
		}
		r.Words = append(r.Words, w.text)
	}
	if n == 0 || policy.void(r) || !confirm(&cmd) {
		return Rule{}, false
	}
	r.Runner = policy.runs(r.Words[0]) || policy.runsSubcommand(r)
	return r, true
}

// runsSubcommand reports whether a rule names a tool without a subcommand or with one that makes it run code.
func (p *Policy) runsSubcommand(r Rule) bool {
	first := strings.ToLower(r.Words[0])
	return p.tools[first] && (len(r.Words) == 1 || p.subcommands[first+" "+strings.ToLower(r.Words[1])])
}

// void reports whether a well-formed rule covers nothing nevertheless.
func (p *Policy) void(r Rule) bool {
	first := r.Words[0]
	switch {
	case first == "", strings.Contains(first, "/"), declares(first):
		return true
	case !r.Open:
		return false
	case p.runs(first):
		return true
	case len(r.Words) == 1:
		return p.tools[strings.ToLower(first)]
	default:
		// The test command of a tool may have an open end, because its grant is bound to the files that it runs.
		return p.tools[strings.ToLower(first)] && strings.HasPrefix(r.Words[1], "-") || p.runsSubcommand(r) && r.Words[1] != "test"
	}
}

// runs reports whether a program runs other programs or code.
func (p *Policy) runs(program string) bool {
	program = strings.ToLower(program)
	return p.runners[program] || programs.Runs(program)
}

// declares reports whether a program is one of the builtins that are part of the grammar, even if their name is
// quoted.
func declares(program string) bool {
	switch program {
	case "let", "declare", "typeset", "local", "export", "readonly", "nameref":
		return true
	default:
		return false
	}
}

// optionsOf returns the listed options of the rule's program, or of its subcommand if that has its own entry.
func (p *Policy) optionsOf(words []string) optionSet {
	if strings.ContainsAny(words[0], " \t\n") {
		return optionSet{} // keys with a blank are for subcommands
	}
	if len(words) > 1 {
		if set, ok := p.options[words[0]+" "+words[1]]; ok {
			return set
		}
	}
	return p.options[words[0]]
}
