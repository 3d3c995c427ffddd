package journal

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Quarantined is a user turn that repeatedly crashed the chat. It is quarantined until a person retries or drops it.
type Quarantined struct {
	Turn Turn
	At   int64 // unix milliseconds
}

// Crash is a crash of the chat during a run, or while handling an ingress that was not durable yet.
type Crash struct {
	RunID, IngressID string
	At               int64 // unix milliseconds
}

const (
	// crashMemory is how long a crash is remembered. Platforms deliver an unconfirmed message again much sooner.
	crashMemory = 24 * time.Hour
	maxCrashes  = 64
)

// Placeholder replaces the words of a quarantined turn in the history.
const Placeholder = "[This message could not be handled and was put aside.]"

// RunCrashes returns the number of crashes during a run.
func (s *State) RunCrashes(runID string) int {
	return s.countCrashes(func(st Crash) bool { return runID != "" && st.RunID == runID })
}

// IngressCrashes returns the number of crashes caused by an ingress.
func (s *State) IngressCrashes(id string) int {
	return s.countCrashes(func(st Crash) bool { return id != "" && st.IngressID == id })
}

func (s *State) countCrashes(which func(Crash) bool) (n int) {
	for _, st := range s.crashes {
		if which(st) {
			n++
		}
	}
	return n
}

func (f Crashed) apply(s *State, r Record) {
	s.crashes = append(s.crashes, Crash{RunID: f.RunID, IngressID: f.IngressID, At: r.TS})
	if n := len(s.crashes) - maxCrashes; n > 0 {
		s.crashes = slices.Delete(s.crashes, 0, n)
	}
}

// forgetCrashes forgets the crashes of a run or an ingress that has ended.
func (s *State) forgetCrashes(runID, ingressID string) {
	s.crashes = slices.DeleteFunc(s.crashes, func(st Crash) bool {
		return st.RunID != "" && st.RunID == runID || st.IngressID != "" && st.IngressID == ingressID
	})
}

// If the quarantined turn is in the history or the lane, a placeholder remains there, because its
// position is part of what the model has read.
func (f TurnQuarantined) apply(s *State, r Record) {
	t := NewTurn(f.Turn)
	if !slices.ContainsFunc(s.Quarantine, func(p Quarantined) bool { return p.Turn.ID == t.ID }) {
		s.Quarantine = append(s.Quarantine, Quarantined{Turn: t, At: r.TS})
	}
	switch {
	case f.Kept:
	case f.Ingress != nil:
		s.ingressSettled(r, *f.Ingress, FateDeclined, ReasonQuarantined)
	default:
		t.Parts = []uimessage.Part{uimessage.Text{Text: Placeholder}}
		if old, stored := s.edit(t.ID); old != nil && Text(old.Message) != Placeholder {
			s.overwrite(old, stored, t)
		}
	}
	s.queue(r, f.Rows)
}

func (f TurnReleased) apply(s *State, _ Record) {
	s.Quarantine = slices.DeleteFunc(s.Quarantine, func(p Quarantined) bool { return p.Turn.ID == f.TurnID })
	if f.Turn != nil {
		t := NewTurn(*f.Turn)
		s.turnAccepted(t)
		s.arrived(t)
	}
}

// QuarantinedTurn returns the quarantined turn with the given id.
func (s *State) QuarantinedTurn(id string) (Quarantined, bool) {
	i := slices.IndexFunc(s.Quarantine, func(p Quarantined) bool { return p.Turn.ID == id })
	if i < 0 {
		return Quarantined{}, false
	}
	return s.Quarantine[i], true
}

// restQuarantine returns the records that keep quarantined turns and recent crashes in the journal after a checkpoint.
func (s *State) restQuarantine(now int64, next func(ts int64, f Fact) Record) (records []Record) {
	for _, p := range s.Quarantine {
		records = append(records, next(p.At, TurnQuarantined{Turn: p.Turn.Message, Kept: true}))
	}
	s.crashes = slices.DeleteFunc(s.crashes, func(st Crash) bool { return now-st.At >= crashMemory.Milliseconds() })
	for _, st := range s.crashes {
		records = append(records, next(st.At, Crashed{RunID: st.RunID, IngressID: st.IngressID}))
	}
	return records
}

// chain notes the number of consecutive bot messages up to the given arrival number; it is 0 for a person's message.
// Older arrival numbers are ignored, because a replay may apply them later.
func (s *State) chain(depth, at, seq int64) {
	if seq < s.chained {
		return
	}
	s.chained = seq
	if s.Depth, s.DepthAt = depth, at; depth == 0 {
		s.DepthAt = 0
	}
}

// arrived notes the effects of a turn's arrival, which also apply if the history already contains the turn.
func (s *State) arrived(t Turn) {
	s.chain(t.Meta.Depth, t.Meta.TS, t.Meta.Seq)
	s.forgetCrashes("", t.Meta.IngressID)
}

// Balanced reports whether every accepted ingress is either open or has a fate.
func (s *State) Balanced() bool {
	sum := int64(s.OpenTurns())
	for _, n := range s.counts.Fates {
		sum += n
	}
	return s.Seq == sum
}
