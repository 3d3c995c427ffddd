package grant

import "strings"

// walk goes through the words of a command from left to right.
type walk struct {
	rule    Rule
	cmd     *command
	at      int  // index in the words of the command
	used    int  // number of rule words matched
	ended   bool // options have ended with --
	options optionSet
	names   *protected
}

// covers reports whether a rule covers a command.
func (p *Policy) covers(r Rule, cmd *command) bool {
	if len(cmd.words) < len(r.Words) || cmd.word(0).text != r.Words[0] {
		return false // the usual case if there are many rules
	}
	w := walk{rule: r, cmd: cmd, options: p.optionsOf(r.Words), names: &p.protected}
	for range min(2, len(r.Words)) {
		if !w.takesRuleWord(cmd.word(w.at)) {
			return false
		}
		w.at++
	}
	for w.at < len(cmd.words) {
		n := w.take()
		if n == 0 {
			return false
		}
		w.at += n
	}
	return w.used == len(r.Words)
}

// take returns how many of the next words are allowed here: none, one, or two for an option and its value.
func (w *walk) take() int {
	next := w.cmd.word(w.at)
	switch {
	case w.takesRuleWord(next):
		return 1
	case next.text == "--" && !w.ended:
		w.ended = true
		return 1
	case !w.ended && len(next.text) > 1 && next.text[0] == '-':
		return w.option(next)
	case w.rule.Open && w.used == len(w.rule.Words) && w.names.allow(next) && (w.rule.Words[0] != "git" || !pathspec(next.text)):
		return 1
	default:
		return 0
	}
}

// takesRuleWord reports whether a word is the next unmatched word of the rule, and marks it as matched. A -- in the
// rule also ends the options.
func (w *walk) takesRuleWord(next word) bool {
	if w.used == len(w.rule.Words) || !next.static() || next.text != w.rule.Words[w.used] {
		return false
	}
	w.used++
	w.ended = w.ended || next.text == "--"
	return true
}

// option returns how many words an option takes, or 0 if it is not allowed.
func (w *walk) option(option word) int {
	if !option.static() {
		return 0
	}
	name, value, attached := strings.Cut(option.text, "=")
	if !attached && !strings.HasPrefix(name, "--") {
		value = name[min(2, len(name)):]
	}
	switch w.options.needOf(option.text) {
	case alone:
		if w.names.allowValue(name, value) {
			return 1
		}
	case wantValue:
		if w.at+1 < len(w.cmd.words) && isValue(w.cmd.word(w.at+1)) && w.names.allowValue(name, w.cmd.word(w.at+1).text) {
			return 2
		}
	case refused:
	}
	return 0
}

// isValue reports whether a word may be the value of the option before it.
func isValue(w word) bool {
	return w.static() && w.text != "" && w.text[0] != '-'
}
