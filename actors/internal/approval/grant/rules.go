package grant

// Rules are rules that are read once and judge any number of commands. They never
// change, so that any number of goroutines may use them.
type Rules struct {
	policy *Policy
	first  map[string][]rule // by the first word
}

// rule is one that is not void.
type rule struct {
	Rule

	place int // among the given ones
}

// NewRules reads rules. Void ones stay and cover nothing.
func NewRules(texts []string, policy *Policy) *Rules {
	rs := &Rules{policy: policy, first: map[string][]rule{}}
	for i, text := range texts {
		if r, ok := ParseRule(text, policy); ok {
			rs.first[r.Words[0]] = append(rs.first[r.Words[0]], rule{r, i})
		}
	}
	return rs
}

// Covering are the places of the rules that cover a command, in order: those under
// which [Decide] says Auto. The command is read once, whatever their number.
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

// Commands are commands that are read once and held against any number of rules. It
// is for one goroutine.
type Commands struct {
	policy *Policy
	list   []*reading
}

// reading is a command, with what is known of it so far.
type reading struct {
	command

	read, simple, agreed bool // simple: one for both parsers, once agreed is set
	text                 string
}

// NewCommands takes commands. Each is read when it is needed first.
func NewCommands(texts []string, policy *Policy) *Commands {
	c := &Commands{policy: policy}
	for _, text := range texts {
		c.list = append(c.list, &reading{text: text})
	}
	return c
}

// Covered reports whether a rule covers one of the commands, as [Decide] does.
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
