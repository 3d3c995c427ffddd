package persistence

import "github.com/shipmyagent/shipmyagent/messages/uimessage"

// Ends reports whether the turn ended a run, or stands for turns that did: no user
// turn before it is open.
func (t Turn) Ends() bool { return ended(t) }

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
