package reply

import (
	"strings"
	"unicode"
)

// The longest timed grant.
const maxMinutes = 60

// timed reads a line that grants rules for a limited time.
func (p parser) timed(l line) []Meaning {
	var out []Meaning
	for _, form := range timedForms() {
		for _, s := range follow(l, form) {
			if s.minutes > maxMinutes {
				continue
			}
			if targets := p.granted(l, s.from, s.to); targets != nil {
				out = append(out, Meaning{Reply: Reply{Kind: GrantTimed, Targets: targets, Minutes: s.minutes}, Bare: isThis(l.slice(s.from, s.to))})
			}
		}
	}
	return out
}

// timedForms are the forms of a timed grant.
func timedForms() []step {
	begin := maybe(words("在", "接下来", "未来"))
	within := maybe(either(words("内", "里"), chain(words("之"), words("内", "里"))))
	all := words("都", "全都")
	run := maybe(words("执行", "运行"))
	yes := either(chain(words("同意", "允许", "批准"), run), words("可以执行", "可以运行"))
	yesOrMay := either(yes, words("可以"))
	allow := words("allow", "approve")
	span := chain(words("for"), maybe(words("the next")), length)
	return []step{
		chain(maybe(words("在", "接下来", "未来", "今后")), length, within, maybe(all), yes, rules),
		chain(words("同意", "允许", "批准"), run, rules, maybe(words("接下来")), length, maybe(words("内"))),
		chain(rules, begin, length, words("内"), maybe(all), yesOrMay),
		chain(begin, length, words("内"), rules, all, yesOrMay),
		chain(allow, rules, span),
		chain(span, maybe(words(",")), allow, rules),
	}
}

// granted are the rules that a part of the line consists of; nil if one of them is invalid or
// covers no pending command.
func (p parser) granted(l line, from, to int) []string {
	part := l.slice(from, to)
	var targets []string
	if text, ok := quoted(part); ok {
		targets = []string{text}
	} else if list := backticked(part); list != nil {
		targets = list
	} else if isThis(part) {
		if len(p.pending) != 1 {
			return nil
		}
		targets = p.pending[:1:1]
	} else if stands(l, from, to) {
		targets = []string{string(part.raw)}
	}
	for _, rule := range targets {
		if !p.covers(rule) {
			return nil
		}
	}
	return targets
}

// stands reports whether a bare rule is separated from its surroundings: by blanks, or because it
// is ASCII and the words around it are not. A number at its end must not run into the length of
// time.
func stands(l line, from, to int) bool {
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
