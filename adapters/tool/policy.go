package tool

// Decision says whether a call may run.
type Decision string

// The decisions. What is in doubt is [Ask].
const (
	Allow Decision = "allow" // at once
	Ask   Decision = "ask"   // after a person agreed
	Deny  Decision = "deny"  // never; the model is told why
)

// Verdict is a decision with its reason, in words for people.
type Verdict struct {
	Decision Decision
	Reason   string
}

// Policy decides about one call. It is a pure function of its arguments: the
// same call gets the same verdict after a restart.
type Policy func(t Tool, call Call) Verdict

// Judge is a tool whose calls differ: some may run at once, others ask.
type Judge interface {
	Tool
	// Judge decides about one call whose input has been validated.
	Judge(call Call) Verdict
}

// BySpec is the policy of the tools themselves: a [Judge] is asked, any other
// tool asks when its spec says so. A verdict that is none of the three asks.
func BySpec(t Tool, call Call) Verdict {
	if t.Spec().Asks {
		return Verdict{Decision: Ask, Reason: "this tool always asks"}
	}
	j, ok := t.(Judge)
	if !ok {
		return Verdict{Decision: Allow}
	}
	v := j.Judge(call)
	if v.Decision != Allow && v.Decision != Deny {
		v.Decision = Ask
	}
	return v
}
