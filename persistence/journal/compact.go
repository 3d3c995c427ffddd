package journal

// MaxTokenCounts is how many turns the meta file keeps the counts of.
const MaxTokenCounts = 4096

// TokenCounts are what the first turns of a history were counted as, so that nobody
// counts them again. They are of that history only while the last of those turns is the one
// that To names.
type TokenCounts struct {
	To   string `json:"to"`
	Each []int  `json:"n"`
}

// Ends reports whether the turn ended a run, or stands for turns that did: no user
// turn before it is open.
func (t Turn) Ends() bool { return ended(&t) }

// Held reports whether a call of the turn is not settled for good: a request is
// open, or its answer has not had its outcome. Such a turn has to stay.
func (t Turn) Held() bool {
	for _, r := range t.Requests {
		call, ok := t.Call(r.CallID)
		switch {
		case !ok:
		case r.Answer == AnswerOpen, r.Answer.decides() && r.Outcome == "" && !call.State.Settled():
			return true
		}
	}
	return false
}
