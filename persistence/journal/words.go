package journal

import (
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// SentWords returns the text of a successful call of chat_send.
func SentWords(call uimessage.Tool) (string, bool) {
	if call.Name != "chat_send" || call.State != uimessage.ToolOutputAvailable {
		return "", false
	}
	var in struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(call.Input, &in)
	return in.Text, err == nil
}

// Words returns what people read of a message: the texts sent by tool if there are any, otherwise the text parts,
// joined by newlines.
func Words(m uimessage.Message) string {
	var sent []string
	for _, p := range m.Parts {
		if call, ok := p.(uimessage.Tool); ok {
			if words, ok := SentWords(call); ok && strings.TrimSpace(words) != "" {
				sent = append(sent, words)
			}
		}
	}
	if len(sent) > 0 {
		return strings.Join(sent, "\n")
	}
	return Text(m)
}

// WordsSaid records a message of the bot that no run of this chat wrote, for example one sent on behalf of a person in
// another chat. While a run is in progress or queued turns wait for one, the message is not in the history yet; see
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

// Rests reports whether nothing in the history waits for anything but a person, so that a new message, or a rewrite,
// interrupts nothing.
func (s *State) Rests() bool {
	t := s.last()
	return s.Run == nil && s.OpenTurns() == 0 && !t.Answered() && t.Switch.Kind == "" && !switches(t) && len(s.Due()) == 0
}

// switches reports whether the run that ended with the turn continues in another context.
func switches(t Turn) bool {
	return t.Role == uimessage.RoleAssistant && (t.Meta.Result == string(ResultSwitching) || t.Meta.Result == string(ResultSwitched))
}

// appendSaid appends the messages in Said to the history.
func (s *State) appendSaid() {
	for _, t := range s.Said {
		s.push(t)
	}
	s.Said = nil
}
