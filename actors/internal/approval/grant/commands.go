package grant

// Verdict says whether a command runs without asking.
type Verdict string

// The two verdicts.
const (
	Auto Verdict = "auto" // it runs without asking
	Ask  Verdict = "ask"  // a person is asked
)

// Decide reports whether a rule that a person granted covers a command, given as the text for the shell. Without a
// policy the verdict is always Ask.
func Decide(text, rule string, policy *Policy) Verdict {
	if NewCommands([]string{text}, policy).Covered(rule) {
		return Auto
	}
	return Ask
}

// Commands are commands that are parsed once and checked against any number of rules. They are not safe for concurrent
// use.
type Commands struct {
	policy *Policy
	list   []*reading
}

// reading is a command with what is known about it so far.
type reading struct {
	command

	read, simple, agreed bool // simple: a simple command for the scanner, and once agreed is set also for the full parser
	text                 string
}

// NewCommands takes commands. Each is parsed on first use.
func NewCommands(texts []string, policy *Policy) *Commands {
	c := &Commands{policy: policy}
	for _, text := range texts {
		c.list = append(c.list, &reading{text: text})
	}
	return c
}

// Covered reports whether a rule covers one of the commands in the sense of [Decide].
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
