package reply

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

// Kind says what a reply decides.
type Kind string

// The kinds of replies.
const (
	Unclear     Kind = "unclear"      // nothing; the text is an ordinary message
	ApproveAll  Kind = "approve_all"  // all that waits may run
	DenyAll     Kind = "deny_all"     // nothing that waits may run
	ApproveSome Kind = "approve_some" // Targets may run, the rest stays pending
	GrantTimed  Kind = "grant_timed"  // Targets are rules for Minutes
)

// Reply is the meaning of a reply.
type Reply struct {
	Kind Kind
	// Targets are commands in the order in which they wait, without repeats, or the
	// rules of a timed grant as they were written.
	Targets []string
	// Minutes is how long a timed grant lasts, from 1 to 60; else 0.
	Minutes int
}

// Parse reads a reply to the commands that wait, in the order in which they were
// shown. Rules of timed grants are judged by the shipped policy.
func Parse(text string, pending []string) Reply {
	return parse(text, pending, func() *grant.Policy {
		policy, err := grant.Shipped()
		if err != nil {
			return nil // every rule is void then
		}
		return policy
	})
}

// ParseWith is Parse under a policy of the operator's.
func ParseWith(text string, pending []string, policy *grant.Policy) Reply {
	return parse(text, pending, func() *grant.Policy { return policy })
}

func parse(text string, pending []string, policy func() *grant.Policy) Reply {
	if len(pending) == 0 || !legible(text) {
		return Reply{Kind: Unclear}
	}
	p := parser{pending: pending, policy: policy}
	var readings []Reply
	for _, l := range tails(dropHead(newLine(text))) {
		readings = append(readings, p.phrase(l)...)
		readings = append(readings, p.naming(l)...)
		readings = append(readings, p.timed(l)...)
	}
	if len(readings) == 0 || slices.ContainsFunc(readings[1:], readings[0].differs) {
		return Reply{Kind: Unclear}
	}
	return readings[0]
}

// parser reads the replies to one list of commands. Its methods give the meanings
// that a whole line can have, none if they do not know it.
type parser struct {
	pending []string
	policy  func() *grant.Policy // asked for only when a rule has to be judged
}

func (r Reply) differs(other Reply) bool {
	return r.Kind != other.Kind || r.Minutes != other.Minutes || !slices.Equal(r.Targets, other.Targets)
}
