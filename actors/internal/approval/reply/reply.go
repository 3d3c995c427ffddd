package reply

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

// Kind is the kind of decision in a reply.
type Kind string

// The kinds of replies.
const (
	Unclear     Kind = "unclear"      // nothing; the text is an ordinary message
	ApproveAll  Kind = "approve_all"  // all pending requests may run
	DenyAll     Kind = "deny_all"     // no pending request may run
	ApproveSome Kind = "approve_some" // Targets may run, the rest stays pending
	GrantTimed  Kind = "grant_timed"  // Targets are rules for Minutes
)

// Reply is the meaning of a reply.
type Reply struct {
	Kind Kind
	// Targets are commands in queue order, without repeats, or the rules of a timed grant as they
	// were written.
	Targets []string
	// Minutes is how long a timed grant lasts, from 1 to 60; otherwise 0.
	Minutes int
}

// Parse reads a reply to the pending commands, in the order in which they were shown, by a bot with
// these names. The shipped policy decides about rules of timed grants.
func Parse(text string, pending []string, names ...string) Reply {
	return parse(text, pending, shippedOrNone, names)
}

// shippedOrNone returns the shipped policy; without it every rule is void.
func shippedOrNone() *grant.Policy {
	policy, err := grant.Shipped()
	if err != nil {
		return nil // Unreachable: the shipped policy is valid
	}
	return policy
}

// ParseWith is Parse under a policy of the operator's.
func ParseWith(text string, pending []string, policy *grant.Policy, names ...string) Reply {
	return parse(text, pending, func() *grant.Policy { return policy }, names)
}

func parse(text string, pending []string, policy func() *grant.Policy, names []string) Reply {
	if len(pending) == 0 || !legible(text) {
		return Reply{Kind: Unclear}
	}
	return parser{pending: pending, names: names, judged: &judged{policy: policy}}.read(text).Reply
}

// Shown is a request as people see it: its number, and its command.
type Shown struct {
	N       int
	Command string
}

// Meaning is the meaning of a reply to numbered requests.
type Meaning struct {
	Reply

	// Places are the indexes of the targets of [ApproveSome] among the requests, in order.
	Places []int
	// Bare is set if the reply does not say what it is about, like a mere yes or no, or a word for
	// "this". It is then about what it answers.
	Bare bool
	// Only is set if it refers to the only request as such, like "this command".
	Only bool
}

// ParseNumbered reads a reply to requests that have numbers of their own. The second request and
// the request with number 2 may differ, so it returns the meaning if the reply's numbers are
// request numbers, and the meaning if they are positions. #N is a request number in both.
func ParseNumbered(text string, shown []Shown, names ...string) (byNumber, byPlace Meaning) {
	if len(shown) == 0 || !legible(text) {
		return unclear(), unclear()
	}
	p := parser{names: names, judged: &judged{policy: shippedOrNone}}
	for _, s := range shown {
		p.pending, p.numbers = append(p.pending, s.Command), append(p.numbers, s.N)
	}
	byNumber = p.read(text)
	p.places = true
	return byNumber, p.read(text)
}

func unclear() Meaning { return Meaning{Reply: Reply{Kind: Unclear}} }

// parser reads the replies to one list of commands. Its methods return the meanings that a whole
// line can have, or none.
type parser struct {
	pending []string
	names   []string // of the bot
	judged  *judged
	numbers []int // of the commands; nil means positions, from 1
	places  bool  // a number without # is a position all the same
}

// judged caches whether the rules in a reply cover a command. However many ways there are to read
// the reply, each rule is checked once, and each command is parsed once.
type judged struct {
	policy   func() *grant.Policy // called only if a rule has to be checked
	commands *grant.Commands
	rules    map[string]bool
}

// read returns the one meaning of a text.
func (p parser) read(text string) Meaning {
	var readings []Meaning
	for _, l := range tails(dropHead(newLine(text), p.names)) {
		readings = append(readings, p.phrase(l)...)
		readings = append(readings, p.naming(l)...)
		readings = append(readings, p.timed(l)...)
	}
	if len(readings) == 0 || slices.ContainsFunc(readings[1:], readings[0].differs) {
		return unclear()
	}
	readings[0].Only = !slices.ContainsFunc(readings, func(m Meaning) bool { return !m.Only })
	readings[0].Bare = slices.ContainsFunc(readings, func(m Meaning) bool { return m.Bare })
	return readings[0]
}

// place is the index for a number that a person named, or -1.
func (p parser) place(n int, hash bool) int {
	switch {
	case p.numbers != nil && (hash || !p.places):
		return slices.Index(p.numbers, n)
	case n < 1 || n > len(p.pending):
		return -1
	}
	return n - 1
}

func (m Meaning) differs(other Meaning) bool {
	return m.Reply.differs(other.Reply) || !slices.Equal(m.Places, other.Places)
}

func (r Reply) differs(other Reply) bool {
	return r.Kind != other.Kind || r.Minutes != other.Minutes || !slices.Equal(r.Targets, other.Targets)
}
