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
