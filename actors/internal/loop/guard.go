package loop

import "errors"

// Guards end runs that make no progress, each with a reason that people can see. A limit of 0 is
// off.
type Guards struct {
	// Steps is the maximum number of steps of a run; StepsDone of them were made before this Loop.
	Steps, StepsDone int
	// EqualCalls is how often in a row the same call (name and input) may be made. The call that
	// reaches the limit is not executed.
	EqualCalls int
	// SchemaFailures is how often in a row a call may be invalid.
	SchemaFailures int
}

// HostGuards are the limits of a chat's runs.
func HostGuards() Guards {
	return Guards{Steps: 64, EqualCalls: 3, SchemaFailures: 3}
}

// errEqualCall is what the model reads instead of the result of a repeated call.
var errEqualCall = errors.New("not executed: the same call with the same input was made too often in a row")

// guard has the counters of the guards.
type guard struct {
	limits   Guards
	lastCall string
	equal    int
	invalid  int
	tripped  Limit
}

// seen counts a call of the model and reports whether it may be executed.
func (g *guard) seen(c Call) bool {
	if c.ProviderExecuted {
		return true
	}
	if c.Err != nil {
		g.invalid++
		if g.limits.SchemaFailures > 0 && g.invalid >= g.limits.SchemaFailures {
			g.trip(LimitSchemaFailures)
		}
	} else {
		g.invalid = 0
	}
	if g.limits.EqualCalls <= 0 {
		return true
	}
	key := c.Name + "\x00" + c.RawInput + "\x00" + string(Canonical(c.Input))
	if key == g.lastCall {
		g.equal++
	} else {
		g.lastCall, g.equal = key, 1
	}
	if g.equal >= g.limits.EqualCalls {
		g.trip(LimitEqualCalls)
		return false
	}
	return true
}

// after returns the limit that a run which needs another step has reached.
func (g *guard) after(steps int) Limit {
	if g.tripped == LimitNone && g.limits.Steps > 0 && g.limits.StepsDone+steps >= g.limits.Steps {
		g.trip(LimitSteps)
	}
	return g.tripped
}

func (g *guard) trip(l Limit) {
	if g.tripped == LimitNone {
		g.tripped = l
	}
}
