package grant

// Rules are parsed once and can check any number of commands. They are immutable and safe for
// concurrent use.
type Rules struct {
	policy *Policy
	first  map[string][]rule // by the first word
}

// rule is a valid rule.
type rule struct {
	Rule

	place int // index among the given rules
}

// NewRules parses rules. Void rules keep their index and cover nothing.
func NewRules(texts []string, policy *Policy) *Rules {
	rs := &Rules{policy: policy, first: map[string][]rule{}}
	for i, text := range texts {
		if r, ok := ParseRule(text, policy); ok {
			rs.first[r.Words[0]] = append(rs.first[r.Words[0]], rule{r, i})
		}
	}
	return rs
}

// Covering returns the indexes of the rules that cover a command, in order: those for which
// [Decide] says Auto. The command is parsed once for all of them.
func (rs *Rules) Covering(text string) []int {
	if len(rs.first) == 0 || !printable(text) {
		return nil
	}
	cmd, ok := scan(text)
	if !ok {
		return nil
	}
	var out []int
	for _, r := range rs.first[cmd.word(0).text] {
		if rs.policy.covers(r.Rule, &cmd) {
			out = append(out, r.place)
		}
	}
	if len(out) == 0 || !confirm(&cmd) {
		return nil
	}
	return out
}

// Commands are parsed once and can be checked against any number of rules. It is for one goroutine.
type Commands struct {
	policy *Policy
	list   []*reading
}

// reading is a command and what is known about it so far.
type reading struct {
	command

	read, simple, agreed bool // simple: one for both parsers, if agreed is set
	text                 string
}

// NewCommands makes Commands. Each is parsed at its first use.
func NewCommands(texts []string, policy *Policy) *Commands {
	c := &Commands{policy: policy}
	for _, text := range texts {
		c.list = append(c.list, &reading{text: text})
	}
	return c
}

// Covered reports whether a rule covers one of the commands, like [Decide].
func (c *Commands) Covered(rule string) bool {
	r, ok := ParseRule(rule, c.policy)
	if !ok {
		return false
	}
	for _, j := range c.list {
		if !j.read {
			j.read = true
			if j.simple = printable(j.text); j.simple {
				j.command, j.simple = scan(j.text)
			}
		}
		if !j.simple || !c.policy.covers(r, &j.command) {
			continue
		}
		if !j.agreed {
			j.agreed, j.simple = true, confirm(&j.command)
		}
		if j.simple {
			return true
		}
	}
	return false
}
