package journal

import (
	"fmt"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Apply applies one fact to the state. A fact that the history already contains has no effect; this happens after a crash
// between a checkpoint and cutting the journal. After an error, which means that a newer version wrote the journal, the
// state is unusable.
func (s *State) Apply(r Record) error {
	s.N = max(s.N, r.N)
	s.facts++
	if s.Run != nil {
		s.Run.Last = r.TS
	}
	f, ok := r.Fact.(applied)
	if !ok {
		return fmt.Errorf("unknown kind %q: written by a newer version", r.Fact.kind())
	}
	f.apply(s, r)
	if len(s.Said) > 0 && s.Rests() {
		s.appendSaid()
	}
	return nil
}

func (s *State) turnAccepted(t Turn) {
	if old, stored := s.edit(t.ID); old != nil {
		if old.Meta.Seq != t.Meta.Seq { // asked again: open it once more
			s.accept(t)
			s.overwrite(old, stored, t)
		}
		return
	}
	s.accept(t)
	if s.Run != nil {
		s.turns.add(t.ID)
		s.Lane = append(s.Lane, t)
		return
	}
	s.push(t)
}

func (f TurnReplaced) apply(s *State, r Record) {
	t := NewTurn(f.Turn)
	if old, stored := s.edit(t.ID); old != nil {
		s.overwrite(old, stored, t)
	}
	if f.Ingress != nil {
		reason := "edit"
		if t.Meta.Album != "" && t.Meta.EditOf == "" {
			reason = "album"
		}
		s.ingressSettled(r, *f.Ingress, FateMerged, reason)
	}
}

func (s *State) ingressSettled(r Record, in Ingress, fate Fate, reason string) {
	s.ids.add(in.ID)
	s.forgetCrashes("", in.ID)
	s.Seq = max(s.Seq, in.Seq)
	if in.Depth > 0 {
		s.chain(in.Depth, r.TS, in.Seq)
	}
	s.enter(LedgerEntry{
		N: r.N, TS: r.TS, Arrived: r.TS, Dir: DirIn, MessageID: in.MessageID, UserID: in.UserID, Username: in.Username,
		Text: in.Text, Fate: fate, Reason: reason, RequestID: in.RequestID,
	})
}

// settle records the fates of turns in the ledger.
func (s *State) settle(r Record, fates []Settled) {
	for _, f := range fates {
		e := LedgerEntry{N: r.N, TS: r.TS, Dir: DirIn, TurnID: f.TurnID, Fate: f.Fate, Reason: f.Reason, RunID: f.RunID, Step: f.Step}
		if t, _ := s.find(f.TurnID); t != nil {
			e.Arrived = t.Meta.TS
			e.MessageID, e.UserID, e.Username, e.RequestID = t.Meta.MessageID, t.Meta.UserID, t.Meta.Username, t.Meta.RequestID
			e.Text = Text(t.Message)
		}
		if p, ok := s.QuarantinedTurn(f.TurnID); ok {
			e.Text = Text(p.Turn.Message) // the history contains a placeholder
		}
		s.Lane = slices.DeleteFunc(s.Lane, func(t Turn) bool { return t.ID == f.TurnID })
		s.enter(e)
	}
}

// drop removes turns that were settled without a run while they waited. Normally they are in the lane. On a replay
// after a crash between a checkpoint and cutting the journal, the run may already be over, and they are at the end of
// the history, after the turns that the history file contains.
func (s *State) drop(fates []Settled) {
	kept := s.History[:s.stored:s.stored]
	for _, t := range s.History[s.stored:] {
		if !slices.ContainsFunc(fates, func(f Settled) bool { return f.TurnID == t.ID }) {
			kept = append(kept, t)
		}
	}
	s.History = kept
}

// enter adds a ledger entry and counts it, unless the meta file has already counted it.
func (s *State) enter(e LedgerEntry) {
	s.ledger = append(s.ledger, e)
	if e.N > s.counted {
		s.count(e)
	}
}

func (s *State) count(e LedgerEntry) {
	if s.countsShared {
		s.counts, s.countsShared = s.counts.clone(), false
	}
	if e.Dir == DirIn {
		s.counts.Fates[e.Fate]++
	} else {
		s.counts.Egress[string(e.Fate)]++
	}
}

func (f RunStarted) apply(s *State, r Record) {
	if s.Run == nil {
		if s.ended[f.RunID] {
			return
		}
		s.Run = &Run{ID: f.RunID, RequestID: f.RequestID, MessageID: f.MessageID, Started: r.TS, Begun: map[string]bool{}, Rows: map[string]RowKey{}}
		if t, ok := s.Turn(f.MessageID); ok { // the run continues a message that waited for a person
			s.Run.Parts, s.Run.Base, s.Run.Egress = t.Parts, len(t.Parts), t.Egress
		}
		s.History = append(s.History, s.Lane...)
		s.Lane = nil
		for _, t := range s.Open() {
			s.Run.Visible = append(s.Run.Visible, Visible{TurnID: t.ID, Step: 1})
		}
	}
	s.Run.Attempt, s.Run.Last = f.Attempt, r.TS
}

func (s *State) merged(r Record, f TurnsMerged) {
	s.put(NewTurn(f.Closed))
	s.reads(r, nil)
	s.queue(r, f.Rows)
	s.appendSaid()
	for _, id := range f.Turns {
		i := slices.IndexFunc(s.Lane, func(t Turn) bool { return t.ID == id })
		if i < 0 {
			continue
		}
		s.History = append(s.History, s.Lane[i])
		s.Lane = slices.Delete(s.Lane, i, i+1)
		s.Run.Visible = append(s.Run.Visible, Visible{TurnID: id, Step: f.Step})
	}
	s.Run.MessageID, s.Run.Parts, s.Run.Base, s.Run.Egress, s.Run.Spoke = f.MessageID, nil, 0, 0, false
}

func (f RunFinished) apply(s *State, r Record) {
	if s.Run != nil && s.Run.ID == f.RunID {
		s.Run = nil
	}
	s.put(NewTurn(f.Message))
	s.reads(r, NewTurn(f.Message).open())
	s.settle(r, f.Fates)
	s.queue(r, f.Rows)
	s.forgetCrashes(f.RunID, "")
	if !switches(NewTurn(f.Message)) {
		s.appendSaid()
	}
	// Turns that waited during the run are open now and belong to the next run.
	s.History = append(s.History, s.Lane...)
	s.Lane = nil
}

// put appends an assistant message or replaces the one with the same id.
func (s *State) put(t Turn) {
	if old, stored := s.edit(t.ID); old != nil {
		s.supersede(old, stored, t)
		return
	}
	s.push(t)
}

func (s *State) queue(r Record, rows []Row) {
	for _, row := range rows {
		switch old := s.Row(row.Key); {
		case old == nil:
			s.Outbox = append(s.Outbox, OutboxRow{Row: row, Queued: r.TS})
		case old.Open:
			old.Row, old.Queued = row, r.TS
		}
	}
}

func (f EgressQueued) apply(s *State, r Record) {
	s.queue(r, []Row{f.Row})
	if f.Row.Depth > 0 {
		s.chain(max(s.Depth, f.Row.Depth), r.TS, f.Row.Seq)
	}
	if s.Run != nil && f.Row.RunID == s.Run.ID {
		s.Run.Egress = max(s.Run.Egress, f.Row.Key.N)
		if f.Row.CallID != "" {
			s.Run.Rows[f.Row.CallID], s.Run.Spoke = f.Row.Key, true
		}
	}
}

func (f EgressSent) apply(s *State, r Record) {
	row := s.Row(f.Key)
	switch {
	case row == nil:
	case f.Draft:
		row.Draft = messages.Receipt{ID: f.MessageID, Order: f.Order}
		s.said(r, f.Key, f.Order, row.Maybe)
	case f.Part == len(row.Sent):
		row.Sent = append(row.Sent, messages.Receipt{ID: f.MessageID, Order: f.Order})
		s.said(r, f.Key, f.Order, row.Maybe)
	}
}

func (f EgressSettled) apply(s *State, r Record) {
	row := s.Row(f.Key)
	if row == nil {
		return
	}
	if f.Outcome == EgressParked {
		row.Parked, row.Reason, row.Tries = true, f.Reason, f.Tries
		if f.Maybe {
			row.Maybe = true
			s.said(r, f.Key, 0, true)
		}
		return
	}
	if f.Outcome == EgressDelivered {
		s.delivered(r, *row, f)
		s.buttonsBelow(r, *row, f.Receipts)
	}
	s.enter(LedgerEntry{
		N: r.N, TS: r.TS, Arrived: row.Queued, Dir: DirOut, TurnID: f.Key.MessageID, Text: s.ledgerText(row.Row), Fate: Fate(f.Outcome), Reason: f.Reason,
		RequestID: row.RequestID, RunID: row.RunID, Receipt: f.Receipts, Maybe: f.Maybe,
	})
	s.Outbox = slices.DeleteFunc(s.Outbox, func(o OutboxRow) bool { return o.Key == f.Key })
}

func (r *Run) setParts(f StepResponded) {
	r.Parts = append(slices.Clone(r.Parts[:f.From]), f.Parts...)
	r.Step, r.Attempt = f.Step, 0 // a run that makes progress gets its attempts back
	r.Shown = append(r.Shown, f.Shown...)
}

// setPart replaces the tool part with the same call id.
func (r *Run) setPart(p uimessage.Part) {
	if tool, ok := p.(uimessage.Tool); ok {
		r.Parts = ReplaceCall(r.Parts, tool.ToolCallID, func(uimessage.Tool) uimessage.Tool { return tool })
	}
}

// Text returns the text parts of a message, joined by newlines.
func Text(m uimessage.Message) string {
	var out string
	for _, p := range m.Parts {
		if t, ok := p.(uimessage.Text); ok && t.Text != "" {
			if out != "" {
				out += "\n"
			}
			out += t.Text
		}
	}
	return out
}
