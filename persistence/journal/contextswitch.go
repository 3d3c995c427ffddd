package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// During a run, a tool call orders a context switch. The outcome of the call contains the order, the message that ends
// the run keeps it in its metadata, and the rewrite that carries it out puts the message without the order into the
// new history. So after a crash there is either an order to carry out or a history in which it was carried out.

// SwitchMark is an order that waits for its rewrite. Without a kind, it has been carried out.
type SwitchMark struct {
	messages.ContextSwitch
	// N counts the switches of one message. Egress is the number of the message's last outbox row, so that the run
	// that continues the message does not reuse it.
	N      int `json:"n"`
	Egress int `json:"egress,omitempty"`
}

const switchMember = "contextSwitch"

// WithSwitch returns metadata with a mark, or without one for the zero value.
func WithSwitch(meta uimessage.Metadata, mark SwitchMark) uimessage.Metadata {
	return withMember(meta, switchMember, mark != (SwitchMark{}), mark)
}

// Switching returns the message whose order to switch the context has not been carried out, its index, and the index
// of the first turn that moves to the new context with it. These are the turns of its run.
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

// Obeyed returns the turn without its order and with the result of its run.
func (t Turn) Obeyed(result Result) Turn {
	t.Switch.ContextSwitch = messages.ContextSwitch{}
	t.Meta = WithSwitch(t.Meta, t.Switch)
	t.Meta.Result = string(result)
	t.Metadata = t.Meta.Append(nil)
	return t
}

// Continues reports whether the run that ended with the turn continues in it, because it ended only to switch the
// context.
func (t Turn) Continues() bool {
	return t.Role == uimessage.RoleAssistant && t.Meta.Result == string(ResultSwitched)
}

// Rewritten updates the state after the store has rewritten the history. The journal must be empty.
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

// ArchiveOf returns the archive that the summary at the beginning of a history names, or empty.
func ArchiveOf(history []uimessage.Message) (id string) {
	if len(history) > 0 {
		if t := NewTurn(history[0]); t.Meta.Kind == uimessage.KindSummary {
			id = memberOf[string](t.Meta, "archive")
		}
	}
	return id
}
