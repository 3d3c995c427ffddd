package tool

// Decision says whether a call may run.
type Decision string

// The decisions. In case of doubt it is [Ask].
const (
	Allow Decision = "allow" // immediately
	Ask   Decision = "ask"   // after a person has agreed
	Deny  Decision = "deny"  // never; the model is told the reason
)

// Verdict is a decision with its reason, in words for people.
type Verdict struct {
	Decision Decision
	Reason   string
}

// Checker is a tool whose calls differ: some may run immediately, others need approval.
type Checker interface {
	Tool
	// CheckCall decides about one call whose input has been validated.
	CheckCall(call Call) Verdict
}

// BySpec is the policy of the tools themselves: a tool whose spec says so asks, a [Checker] decides for itself, and any
// other tool is allowed. An invalid verdict becomes [Ask]. It is a pure function of its arguments, so a call gets the
// same verdict after a restart.
func BySpec(t Tool, call Call) Verdict {
	if t.Spec().Asks {
		return Verdict{Decision: Ask, Reason: "this tool always asks"}
	}
	j, ok := t.(Checker)
	if !ok {
		return Verdict{Decision: Allow}
	}
	v := j.CheckCall(call)
	if v.Decision != Allow && v.Decision != Deny {
		v.Decision = Ask
	}
	return v
}
