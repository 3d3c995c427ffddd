package grant

// Verdict says what happens to a command.
type Verdict string

// The two verdicts.
const (
	Auto Verdict = "auto" // it runs without asking
	Ask  Verdict = "ask"  // a person is asked
)

// Decide says whether a rule that a person granted covers a command, the text
// that a shell is given. Without a policy everything asks.
func Decide(text, rule string, policy *Policy) Verdict {
	r, ok := ParseRule(rule, policy)
	if !ok {
		return Ask
	}
	if !printable(text) {
		return Ask
	}
	// The parser of the whole grammar is the slowest and comes last.
	if cmd, ok := scan(text); ok && policy.covers(r, cmd) && confirm(cmd) {
		return Auto
	}
	return Ask
}

// walk is the way through the words of a command, from left to right.
type walk struct {
	rule    Rule
	used    int  // words of the rule
	ended   bool // options, by --
	options optionSet
	names   protected
}

// covers says whether a rule covers a command.
func (p *Policy) covers(r Rule, cmd command) bool {
	w := walk{rule: r, options: p.optionsOf(r.Words), names: p.protected}
	words := cmd.words
	for range min(2, len(r.Words)) {
		if len(words) == 0 || !w.takesRuleWord(words[0]) {
			return false
		}
		words = words[1:]
	}
	for len(words) > 0 {
		n := w.take(words)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return w.used == len(r.Words)
}

// take says how many of the words ahead are allowed here: none, one, or an option
// and its value.
func (w *walk) take(words []word) int {
	next := words[0]
	switch {
	case w.takesRuleWord(next):
		return 1
	case next.text == "--" && !w.ended:
		w.ended = true
		return 1
	case !w.ended && len(next.text) > 1 && next.text[0] == '-':
		return w.option(words)
	case w.rule.Open && w.used == len(w.rule.Words) && plain(next, w.names):
		return 1
	default:
		return 0
	}
}

// takesRuleWord says whether a word is the next unused one of the rule, and uses
// it. A -- of the rule ends the options, too.
func (w *walk) takesRuleWord(next word) bool {
	if w.used == len(w.rule.Words) || !next.static() || next.text != w.rule.Words[w.used] {
		return false
	}
	w.used++
	w.ended = w.ended || next.text == "--"
	return true
}

// option says how many words an option takes; 0: it is not allowed.
func (w *walk) option(words []word) int {
	if !words[0].static() {
		return 0
	}
	switch w.options.judge(words[0].text) {
	case alone:
		return 1
	case wantValue:
		if len(words) > 1 && isValue(words[1]) {
			return 2
		}
	case refused:
	}
	return 0
}

// isValue says whether a word may be the value of the option before it.
func isValue(w word) bool {
	return w.static() && w.text != "" && w.text[0] != '-'
}
