package reply

// maxMinutes is the length of the longest timed grant.
const maxMinutes = 60

// timed interprets a line that grants rules for a limited time.
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

// granted returns the rules in a part of the line, or nil if one of them is not valid or covers no pending command.
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
	} else if separated(l, from, to) {
		targets = []string{string(part.raw)}
	}
	for _, rule := range targets {
		if !p.covers(rule) {
			return nil
		}
	}
	return targets
}
