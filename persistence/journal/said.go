package journal

import "github.com/shipmyagent/shipmyagent/messages/uimessage"

// WordsSaid says: the bot said something in the chat that no run of the chat said, for
// example on behalf of somebody in another chat. Message is the assistant message of it.
// While a run is under way, or turns wait for one, it is not in the history yet: see
// [State.Said].
type WordsSaid struct {
	Message uimessage.Message `json:"message"`
}

func (WordsSaid) kind() string { return "said" }

func (f WordsSaid) complete() bool { return f.Message.Role != "" }

func (f WordsSaid) apply(s *State, _ Record) {
	t := NewTurn(f.Message)
	if s.turns.has(t.ID) {
		return
	}
	s.turns.add(t.ID)
	s.Said = append(s.Said, t)
}

// rests: nothing is under way that a message would come between.
func (s *State) rests() bool {
	t := s.last()
	return s.Run == nil && s.OpenTurns() == 0 && !t.Answered() && t.Switch.Kind == "" && !switches(t) && len(s.Due()) == 0
}

// switches: a run that ended with the turn goes on in it, in another context.
func switches(t Turn) bool {
	return t.Role == uimessage.RoleAssistant && (t.Meta.Result == string(ResultSwitching) || t.Meta.Result == string(ResultSwitched))
}

// placeSaid puts what was said meanwhile behind the history as it is.
func (s *State) placeSaid() {
	for _, t := range s.Said {
		s.push(t)
	}
	s.Said = nil
}
