package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

// state is how far a form has matched a line, and what it has found so far.
type state struct {
	at       int
	from, to int // range of the rules of a timed grant
	minutes  int
	picks    []int // indexes of the commands named
	bare     bool  // named by a word for the only one
	only     bool  // named as the only one
	shared   bool  // named by a name that several commands have
	counts   bool  // named by a name that reads like a number
	digits   bool  // named by a mere number
}

// step matches a part of a line in all possible ways. Blanks between steps are ignored.
type step func(l line, s state) []state

// follow returns all states in which the steps reach the end of the line.
func follow(l line, steps ...step) []state {
	var out []state
	for _, s := range chain(steps...)(l, state{}) {
		if s.at == l.len() {
			out = append(out, s)
		}
	}
	return out
}

// chain matches the steps one after the other.
func chain(steps ...step) step {
	return func(l line, s state) []state {
		states := []state{s}
		for _, next := range steps {
			var reached []state
			for _, s := range states {
				s.at = l.skip(s.at)
				reached = append(reached, next(l, s)...)
			}
			states = reached
		}
		return states
	}
}

// either matches any one of the steps.
func either(steps ...step) step {
	return func(l line, s state) []state {
		var out []state
		for _, next := range steps {
			out = append(out, next(l, s)...)
		}
		return out
	}
}

// maybe makes a step optional.
func maybe(next step) step {
	return func(l line, s state) []state { return append(next(l, s), s) }
}

// words matches any one of the words.
func words(list ...string) step {
	return func(l line, s state) []state {
		var out []state
		for _, word := range list {
			if end := l.word(s.at, word); end >= 0 {
				next := s
				next.at = end
				out = append(out, next)
			}
		}
		return out
	}
}

// length matches a length of time.
func length(l line, s state) []state {
	minutes, end := l.duration(s.at)
	if end < 0 {
		return nil
	}
	s.minutes, s.at = minutes, end
	return []state{s}
}

// rules matches any text that is separated from what follows. It is interpreted as rules once the whole form matches.
func rules(l line, s state) []state {
	var out []state
	for end := s.at + 1; end <= l.len(); end++ {
		if l.at(end-1) == ' ' || !endsRule(l, s.at, end) {
			continue
		}
		next := s
		next.from, next.to, next.at = s.at, end, end
		out = append(out, next)
	}
	return out
}

// endsRule reports whether a rule, a list of rules or a word for one may end here.
func endsRule(l line, from, end int) bool {
	return strings.ContainsRune("`\"'”」", l.at(end-1)) || separated(l, from, end) || isThis(l.slice(from, end))
}

// quoted returns the contents of a line that consists of one pair of quotes.
func quoted(l line) (string, bool) {
	last := l.len() - 1
	if last < 2 {
		return "", false
	}
	closing, ok := map[rune]rune{'`': '`', '"': '"', '\'': '\'', '“': '”', '「': '」'}[l.at(0)]
	if !ok {
		return "", false
	}
	for i := 1; i < last; i++ {
		if l.at(i) == closing {
			return "", false
		}
	}
	return string(l.raw[1:last]), l.at(last) == closing
}

// backticked returns the items of a list in which each item is in backticks.
func backticked(l line) []string {
	var out []string
	for i := 0; l.at(i) == '`'; {
		end := i + 1
		for end < l.len() && l.at(end) != '`' {
			end++
		}
		if end == l.len() || end == i+1 {
			return nil
		}
		out = append(out, string(l.raw[i+1:end]))
		if end++; end == l.len() {
			return out
		}
		if i = l.joiner(end); i < 0 {
			return nil
		}
	}
	return nil
}

// joiner returns where the next item of a list begins if the current one ends at i, or -1 if it is the last.
func (l line) joiner(i int) int {
	i = l.skip(i)
	for _, word := range []string{"、", ",", "和", "与", "&", "and"} {
		if end := l.word(i, word); end >= 0 {
			return l.skip(end)
		}
	}
	return -1
}

// isThis reports whether a line is a word for the only pending command.
func isThis(l line) bool {
	for _, word := range []string{"这个", "这条", "这个命令", "这条命令", "该命令", "this", "this one", "this command"} {
		if l.word(0, word) == l.len() {
			return true
		}
	}
	return false
}

// isThisCommand reports whether a line names the only pending command as a command.
func isThisCommand(l line) bool {
	return slices.ContainsFunc([]string{"这个命令", "这条命令", "该命令", "this command"}, func(word string) bool { return l.word(0, word) == l.len() })
}

// covers reports whether a rule is valid and covers a pending command.
func (p parser) covers(rule string) bool {
	if p.judged.commands == nil {
		p.judged.commands = grant.NewCommands(p.pending, p.judged.policy())
		p.judged.rules = map[string]bool{}
	}
	covers, known := p.judged.rules[rule]
	if !known {
		covers = p.judged.commands.Covered(rule)
		p.judged.rules[rule] = covers
	}
	return covers
}

// separated reports whether an unquoted rule is separated from its surroundings: by blanks, or because it is ASCII and
// the words around it are not. A number at its end must not run into the length of time.
func separated(l line, from, to int) bool {
	before, after := l.at(from-1), l.at(to)
	first, last := l.raw[from], l.raw[to-1]
	if before != 0 && before != ' ' && (before <= unicode.MaxASCII || first > unicode.MaxASCII) {
		return false
	}
	if after == 0 || after == ' ' {
		return true
	}
	counts := '0' <= last && last <= '9' && strings.ContainsRune("一二两三四五六七八九十半", after)
	return after > unicode.MaxASCII && last <= unicode.MaxASCII && !counts
}
