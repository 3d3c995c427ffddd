package reply

import (
	"slices"
	"unicode"
)

// naming interprets a line that approves or refuses commands by name or number.
func (p parser) naming(l line) []Meaning {
	var out []Meaning
	for _, s := range p.approvals(l) {
		if s.counts || s.shared && p.numbers != nil { // requests with the same name may do different things
			out = append(out, Meaning{Reply: Reply{Kind: Unclear}})
			continue
		}
		places := slices.Clone(s.picks)
		slices.Sort(places)
		out = append(out, Meaning{Reply: Reply{Kind: ApproveSome, Targets: p.targets(s.picks)}, Places: slices.Compact(places), Bare: s.bare, Only: s.only, Digits: s.digits})
	}
	for _, s := range follow(l, words("拒绝", "deny", "reject", "refuse"), p.list) {
		kind := DenyAll
		for i := range p.pending {
			if !slices.Contains(s.picks, i) {
				kind = Unclear
			}
		}
		out = append(out, Meaning{Reply: Reply{Kind: kind}, Bare: s.bare, Digits: s.digits})
	}
	return out
}

// approvals returns the readings of a line that approves some commands.
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

// targets returns the commands at some indexes, in order and without repeats.
func (p parser) targets(picks []int) []string {
	var out []string
	for i, command := range p.pending {
		if slices.Contains(picks, i) && !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	return out
}

// list reads what may follow a verb up to the end of the line: commands, ordinals or a word for the only command.
func (p parser) list(l line, s state) []state {
	out := p.ordinals(true)(l, s)
	rest := l.slice(s.at, l.len())
	take := func(s state, ok bool) {
		if ok {
			s.at = l.len()
			out = append(out, s)
		}
	}
	switch {
	case len(p.pending) != 1:
	case isThisCommand(rest):
		take(state{picks: []int{0}, only: true}, true)
	case isThis(rest):
		take(state{picks: []int{0}, bare: true}, true)
	}
	if before := l.at(s.at - 1); before == ' ' || !isLatin(before) {
		named, ok := p.named(string(rest.raw))
		named.counts = rest.counts()
		take(named, ok)
	}
	if text, ok := quoted(rest); ok {
		take(p.named(text))
	}
	if listed := backticked(rest); len(listed) > 1 {
		take(p.named(listed...))
	}
	return out
}

// named picks commands. It returns false if one of them is not pending.
func (p parser) named(commands ...string) (s state, ok bool) {
	for _, command := range commands {
		known := 0
		for i, pending := range p.pending {
			if pending == command && command != "" {
				s.picks = append(s.picks, i)
				known++
			}
		}
		if known == 0 {
			return state{}, false
		}
		s.shared = s.shared || known > 1
	}
	return s, true
}

// counts reports whether a line consists of numbers. A person who writes them means requests, of which some may have
// ended, and not a file to which a model gave such a name.
func (l line) counts() bool {
	for at := 0; ; {
		_, end := l.ordinal(at, true)
		if end < 0 || end == l.len() {
			return end >= 0
		}
		if at = l.joiner(end); at < 0 {
			return false
		}
	}
}

// ordinals reads a list of numbers: after a verb in any form, otherwise only in unambiguous forms.
func (p parser) ordinals(afterVerb bool) step {
	return func(l line, s state) []state {
		for {
			n, end := l.ordinal(s.at, afterVerb)
			first := l.at(s.at)
			s.digits = s.digits || unicode.IsDigit(first)
			place := p.place(n, first == '#')
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

// ordinal reads one number that begins at an index. end is -1 if there is no number.
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
