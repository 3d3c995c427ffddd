package reply

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

// Kind says what a reply decides.
type Kind string

// Kinds of replies.
const (
	Unclear     Kind = "unclear"      // decides nothing; the text is an ordinary message
	ApproveAll  Kind = "approve_all"  // all pending commands may run
	DenyAll     Kind = "deny_all"     // no pending command may run
	ApproveSome Kind = "approve_some" // Targets may run, the rest stays pending
	GrantTimed  Kind = "grant_timed"  // Targets are rules for Minutes
)

// Reply is the meaning of a reply.
type Reply struct {
	Kind Kind
	// Targets are commands in the order in which they are pending, without repeats, or the rules of a timed grant as
	// they were written.
	Targets []string
	// Minutes is how long a timed grant lasts, from 1 to 60, or 0 for other replies.
	Minutes int
}

// Shown is a request as people see it: its number and its command.
type Shown struct {
	N       int
	Command string
}

// Meaning is the meaning of a reply to requests that have numbers.
type Meaning struct {
	Reply

	// Places are the indexes of the targets of [ApproveSome] among the requests, in order.
	Places []int
	// Bare is set if the reply does not say what it is about, like a mere yes or no or a word for "this". It then
	// depends on the message it replies to.
	Bare bool
	// Only is set if the reply names the only request as such, like "this command".
	Only bool
	// Digits is set if the reply contains a mere number, like 1, and not only ordinals, like "the first" or 第1个.
	Digits bool
}

// ParseNumbered interprets a reply to requests that have numbers of their own. The second request in the list and the
// one with the number 2 may be different requests. So it returns two meanings: one that reads numbers in the reply as
// request numbers, and one that reads them as positions in the list. #N is a request number in both.
func ParseNumbered(text string, shown []Shown, names ...string) (byNumber, byPlace Meaning) {
	if len(shown) == 0 || !legible(text) {
		return unclear(), unclear()
	}
	p := parser{names: names, judged: &analysis{policy: grant.Shipped}}
	for _, s := range shown {
		p.pending, p.numbers = append(p.pending, s.Command), append(p.numbers, s.N)
	}
	byNumber = p.read(text)
	p.places = true
	return byNumber, p.read(text)
}

func unclear() Meaning { return Meaning{Reply: Reply{Kind: Unclear}} }

// parser interprets replies to one list of commands. Its methods return the possible meanings of a whole line, or
// none.
type parser struct {
	pending []string
	names   []string // names of the bot
	judged  *analysis
	numbers []int // numbers of the commands; nil means their positions, from 1
	places  bool  // numbers without # are positions nevertheless
}

// analysis caches which of the rules in a reply cover a command. However many readings a reply has, each rule is checked
// once and each command parsed once.
type analysis struct {
	policy   func() *grant.Policy // only called when a rule must be checked
	commands *grant.Commands
	rules    map[string]bool
}

// read returns the meaning of a text if it is unambiguous.
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

func (m Meaning) differs(other Meaning) bool {
	return m.Reply.differs(other.Reply) || !slices.Equal(m.Places, other.Places)
}

func (r Reply) differs(other Reply) bool {
	return r.Kind != other.Kind || r.Minutes != other.Minutes || !slices.Equal(r.Targets, other.Targets)
}
