package reply

import "github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"

// Parse interprets a reply to commands that are numbered by their positions, with the shipped policy.
func Parse(text string, pending []string, names ...string) Reply {
	return parse(text, pending, grant.Shipped, names)
}

// ParseWith is Parse with another policy.
func ParseWith(text string, pending []string, policy *grant.Policy, names ...string) Reply {
	return parse(text, pending, func() *grant.Policy { return policy }, names)
}

func parse(text string, pending []string, policy func() *grant.Policy, names []string) Reply {
	if len(pending) == 0 || !legible(text) {
		return Reply{Kind: Unclear}
	}
	return parser{pending: pending, names: names, judged: &analysis{policy: policy}}.read(text).Reply
}
