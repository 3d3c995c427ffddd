package journal

// MaxTokenCounts is the largest number of turns whose token counts the meta file keeps.
const MaxTokenCounts = 4096

// TokenCounts are the token counts of the first turns of a history, so that they need not be counted again. They are
// only valid while the last of those turns has the id To.
type TokenCounts struct {
	To   string `json:"to"`
	Each []int  `json:"n"`
}

// Ends reports whether the turn ended a run or summarizes turns that did, so that no user turn before it is open.
func (t Turn) Ends() bool { return ended(&t) }

// Waits reports whether a call of the turn is not finally settled, because its request is open or its decision has not
// been carried out. Such a turn must stay in the history.
func (t Turn) Waits() bool {
	for _, r := range t.Requests {
		call, ok := t.CallOf(r)
		switch {
		case !ok:
		case r.Answer == AnswerOpen, r.Answer.decides() && r.Outcome == "" && !call.State.Settled():
			return true
		}
	}
	return false
}
