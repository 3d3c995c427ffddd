package journal

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// A context switch during a run is ordered by a tool call. Its outcome carries the
// order, the message that ends the run keeps it in its metadata, and the rewrite that
// obeys it puts the message without it into the new history. So a crash
// anywhere leaves either an order to obey or a history in which it was obeyed.

// SwitchMark is an order that waits for its rewrite; one without a kind was obeyed.
type SwitchMark struct {
	messages.ContextSwitch
	// N counts the switches of one message, and Egress is the number of its last
	// egress row, so that the run that goes on in it does not give it again.
	N      int `json:"n"`
	Egress int `json:"egress,omitempty"`
}

const switchMember = "contextSwitch"

func decodeSwitch(meta uimessage.Metadata) (mark SwitchMark) {
	for _, m := range meta.Extra {
		if m.Name == switchMember && json.Unmarshal(m.Value, &mark) != nil {
			return SwitchMark{} // not ours
		}
	}
	return mark
}

// WithSwitch is metadata that keeps a mark, or none for the zero value.
func WithSwitch(meta uimessage.Metadata, mark SwitchMark) uimessage.Metadata {
	meta.Extra = slices.DeleteFunc(slices.Clone(meta.Extra), func(m uimessage.Member) bool { return m.Name == switchMember })
	if mark != (SwitchMark{}) {
		meta.Extra = append(meta.Extra, uimessage.Member{Name: switchMember, Value: appendJSON(nil, mark)})
	}
	return meta
}

// Switching finds the message whose order to switch the context waits to be obeyed,
// and the place from which on turns go over into the new context: those of its run.
func (s *State) Switching() (t Turn, at, from int, ok bool) {
	if !s.switching {
		return Turn{}, 0, 0, false
	}
	for at = len(s.History) - 1; at >= 0; at-- {
		if t = s.History[at]; t.Switch.Kind != "" {
			break
		}
	}
	if at < 0 {
		s.switching = false
		return Turn{}, 0, 0, false
	}
	for from = at; from > 0; from-- {
		before := s.History[from-1]
		if before.Role != uimessage.RoleUser && (before.Meta.RunID != t.Meta.RunID || before.Ends()) {
			break
		}
	}
	return t, at, from, true
}

// Obeyed is a turn without its order, with the result of its run.
func (t Turn) Obeyed(result Result) Turn {
	t.Switch.ContextSwitch = messages.ContextSwitch{}
	t.Meta = WithSwitch(t.Meta, t.Switch)
	t.Meta.Result = string(result)
	t.Metadata = t.Meta.Append(nil)
	return t
}

// GoesOn reports whether the run that the turn ended goes on in it: it ended only to
// switch the context.
func (t Turn) GoesOn() bool {
	return t.Role == uimessage.RoleAssistant && t.Meta.Result == string(ResultSwitched)
}

// Rewritten takes in that the store has written another history. The journal holds nothing
// then.
func (s *State) Rewritten(r Rewrite) {
	head, kept := s.History[:r.From:r.From], s.History[r.To:]
	s.History = make([]Turn, 0, len(head)+len(r.Insert)+len(kept))
	s.turns = newIDSet(cap(s.History))
	for _, t := range slices.Concat(s.Said, s.Lane) {
		s.turns.add(t.ID)
	}
	for _, turns := range [][]Turn{head, turnsOf(r.Insert), kept} {
		for _, t := range turns {
			s.push(t)
		}
	}
	s.stored, s.shared = len(s.History), false
	s.Cursor, s.Pinned = r.Meta.Cursor, r.Meta.Pinned
}

func turnsOf(list []uimessage.Message) []Turn {
	out := make([]Turn, len(list))
	for i, m := range list {
		out[i] = NewTurn(m)
	}
	return out
}

// ArchiveOf is the archive that the summary at the head of a history names.
func ArchiveOf(history []uimessage.Message) (id string) {
	if len(history) == 0 {
		return ""
	}
	t := NewTurn(history[0])
	for _, m := range t.Meta.Extra {
		if m.Name == "archive" && t.Meta.Kind == uimessage.KindSummary {
			_ = json.Unmarshal(m.Value, &id) // what is no text names none
		}
	}
	return id
}
