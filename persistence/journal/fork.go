package journal

import (
	"maps"
	"slices"
)

// Fork returns a copy to which facts can be applied without changing the original. Only one fork of a state may be
// committed with [State.Commit], because the two share what grows with the history: a fork appends after what the
// original sees of it.
func (s *State) Fork() *State {
	f := *s
	f.shared, f.countsShared = true, true
	f.ids, f.turns = f.ids.fork(), f.turns.fork()
	f.Lane, f.Outbox, f.Quarantine, f.Shown = slices.Clone(s.Lane), slices.Clone(s.Outbox), slices.Clone(s.Quarantine), slices.Clone(s.Shown)
	f.Referrals, f.Referred, f.crashes = slices.Clone(s.Referrals), slices.Clone(s.Referred), slices.Clone(s.crashes)
	if s.Run != nil {
		run := *s.Run
		run.Begun, run.Rows = maps.Clone(run.Begun), maps.Clone(run.Rows)
		f.Run = &run
	}
	return &f
}

// Commit makes a fork the current state. The original must not be used any more.
func (s *State) Commit() {
	s.ids.commit()
	s.turns.commit()
	s.shared, s.countsShared = false, false
}

// edit returns a turn that is about to be replaced, after copying a history that is shared with the original.
func (s *State) edit(id string) (t *Turn, stored bool) {
	if t, stored = s.find(id); t == nil || !s.shared {
		return t, stored
	}
	s.History, s.shared = slices.Clone(s.History), false
	return s.find(id)
}
