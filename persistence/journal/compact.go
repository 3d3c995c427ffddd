package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

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

// Aged tells the state that the store put another revision in the place of a turn.
func (s *State) Aged(i int, m uimessage.Message) {
	s.History = slices.Clone(s.History)
	s.History[i] = NewTurn(m)
}

// Compacted tells the state that the store put a summary in the place of the
// first n turns.
func (s *State) Compacted(n int, summary uimessage.Message) {
	for _, t := range s.History[:n] {
		delete(s.turns, t.ID)
	}
	kept := s.History[n:]
	s.History = make([]Turn, 0, 1+len(kept))
	s.push(NewTurn(summary))
	s.History = append(s.History, kept...)
	s.stored = len(s.History)
}
