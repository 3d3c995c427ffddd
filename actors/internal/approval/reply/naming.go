package reply

import "slices"

// naming reads a line that approves or refuses commands by name or by number.
func (p parser) naming(l line) []Meaning {
	var out []Meaning
	for _, s := range p.approvals(l) {
		places := slices.Clone(s.picks)
		slices.Sort(places)
		out = append(out, Meaning{Reply: Reply{Kind: ApproveSome, Targets: p.targets(s.picks)}, Places: slices.Compact(places), Bare: s.bare, Only: s.only})
	}
	for _, s := range follow(l, words("拒绝", "deny", "reject", "refuse"), p.list) {
		kind := DenyAll
		for i := range p.pending {
			if !slices.Contains(s.picks, i) {
				kind = Unclear
			}
		}
		out = append(out, Meaning{Reply: Reply{Kind: kind}, Bare: s.bare})
	}
	return out
}

// approvals parses the two ways to approve some.
func (p parser) approvals(l line) []state {
	only := maybe(words("只", "仅", "just", "only"))
	verb := words("同意", "批准", "允许", "通过", "approve", "allow")
	run := maybe(words("执行", "运行"))
	fits := words("同意", "批准", "允许", "可以", "行", "ok")
	return append(
		follow(l, only, verb, run, p.list),
		follow(l, p.ordinals(false), fits)...,
	)
}

// targets are the commands at some indexes, in order and without repeats.
func (p parser) targets(picks []int) []string {
	var out []string
	for i, command := range p.pending {
		if slices.Contains(picks, i) && !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	return out
}

// list is what may follow a verb, up to the end of the line: commands, ordinals or a word for the
// only command.
func (p parser) list(l line, s state) []state {
	out := p.ordinals(true)(l, s)
	rest := l.slice(s.at, l.len())
	take := func(picks []int, bare bool) {
		if len(picks) > 0 {
			out = append(out, state{at: l.len(), picks: picks, bare: bare})
		}
	}
	switch {
	case len(p.pending) != 1:
	case isThisCommand(rest):
		out = append(out, state{at: l.len(), picks: []int{0}, only: true})
	case isThis(rest):
		take([]int{0}, true)
	}
	if before := l.at(s.at - 1); before == ' ' || !isLatin(before) {
		take(p.named(string(rest.raw)), false)
	}
	if text, ok := quoted(rest); ok {
		take(p.named(text), false)
	}
	if listed := backticked(rest); len(listed) > 1 {
		take(p.named(listed...), false)
	}
	return out
}

// named are the indexes of commands; it returns none if one of them is not pending.
func (p parser) named(commands ...string) []int {
	var picks []int
	for _, command := range commands {
		known := false
		for i, pending := range p.pending {
			if pending == command && command != "" {
				picks = append(picks, i)
				known = true
			}
		}
		if !known {
			return nil
		}
	}
	return picks
}

// ordinals is a list of numbers: after a verb in any form, otherwise only in unmistakable forms.
func (p parser) ordinals(afterVerb bool) step {
	return func(l line, s state) []state {
		for {
			n, end := l.ordinal(s.at, afterVerb)
			place := p.place(n, l.at(s.at) == '#')
			if end < 0 || place < 0 {
				return nil
			}
			s.picks = append(slices.Clip(s.picks), place)
			s.at = end
			next := l.joiner(end)
			if next < 0 {
				return []state{s}
			}
			s.at = next
		}
	}
}

// ordinal reads one number that starts at an index; end is -1 if there is no number.
func (l line) ordinal(i int, afterVerb bool) (n, end int) {
	switch {
	case l.at(i) == '第':
		n, end = l.numeral(l.skip(i + 1))
		if end < 0 {
			return 0, -1
		}
		if unit := l.skip(end); slices.Contains([]rune("个条项"), l.at(unit)) {
			end = unit + 1
		}
		return n, end
	case l.at(i) == '#':
		return l.digits(i + 1)
	case !afterVerb:
		return 0, -1
	}
	if n, end = l.digits(i); end >= 0 {
		return n, end
	}
	if the := l.word(i, "the"); the >= 0 {
		i = l.skip(the)
	}
	for n, word := range []string{"first", "second", "third", "fourth", "fifth"} {
		end := l.word(i, word)
		if end < 0 {
			continue
		}
		for _, noun := range []string{"one", "command"} {
			if after := l.word(l.skip(end), noun); after >= 0 {
				end = after
			}
		}
		return n + 1, end
	}
	return 0, -1
}
