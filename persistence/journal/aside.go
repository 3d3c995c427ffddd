package journal

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Parked is a user turn that repeatedly crashed the chat. It is quarantined until a person retries or drops it.
type Parked struct {
	Turn Turn
	At   int64 // unix milliseconds
}

// Stumble is a crash of the chat during a run, or while handling an ingress that was not durable yet.
type Stumble struct {
	RunID, IngressID string
	At               int64 // unix milliseconds
}

const (
	// stumbleMemory is how long a crash is remembered. Platforms deliver an unconfirmed message again much sooner.
	stumbleMemory = 24 * time.Hour
	maxStumbles   = 64
)

// Placeholder replaces the words of a quarantined turn in the history.
const Placeholder = "[This message could not be handled and was put aside.]"

// RunStumbles returns the number of crashes during a run.
func (s *State) RunStumbles(runID string) int {
	return s.countStumbles(func(st Stumble) bool { return runID != "" && st.RunID == runID })
}

// IngressStumbles returns the number of crashes caused by an ingress.
func (s *State) IngressStumbles(id string) int {
	return s.countStumbles(func(st Stumble) bool { return id != "" && st.IngressID == id })
}

func (s *State) countStumbles(which func(Stumble) bool) (n int) {
	for _, st := range s.stumbles {
		if which(st) {
			n++
		}
	}
	return n
}

func (f Stumbled) apply(s *State, r Record) {
	s.stumbles = append(s.stumbles, Stumble{RunID: f.RunID, IngressID: f.IngressID, At: r.TS})
	if n := len(s.stumbles) - maxStumbles; n > 0 {
		s.stumbles = slices.Delete(s.stumbles, 0, n)
	}
}

// settleStumbles forgets the crashes of a run or an ingress that has ended.
func (s *State) settleStumbles(runID, ingressID string) {
	s.stumbles = slices.DeleteFunc(s.stumbles, func(st Stumble) bool {
		return st.RunID != "" && st.RunID == runID || st.IngressID != "" && st.IngressID == ingressID
	})
}

// If the quarantined turn is in the history or the lane, a placeholder remains there, because its
// position is part of what the model has read.
func (f TurnParked) apply(s *State, r Record) {
	t := NewTurn(f.Turn)
	if !slices.ContainsFunc(s.Parked, func(p Parked) bool { return p.Turn.ID == t.ID }) {
		s.Parked = append(s.Parked, Parked{Turn: t, At: r.TS})
	}
	switch {
	case f.Kept:
	case f.Ingress != nil:
		s.ingressSettled(r, *f.Ingress, FateDeclined, ReasonParked)
	default:
		t.Parts = []uimessage.Part{uimessage.Text{Text: Placeholder}}
		if old, stored := s.edit(t.ID); old != nil && Text(old.Message) != Placeholder {
			s.overwrite(old, stored, t)
		}
	}
	s.queue(r, f.Rows)
}

func (f TurnUnparked) apply(s *State, _ Record) {
	s.Parked = slices.DeleteFunc(s.Parked, func(p Parked) bool { return p.Turn.ID == f.TurnID })
	if f.Turn != nil {
		t := NewTurn(*f.Turn)
		s.turnAccepted(t)
		s.came(t)
	}
}

// ParkedTurn returns the quarantined turn with the given id.
func (s *State) ParkedTurn(id string) (Parked, bool) {
	i := slices.IndexFunc(s.Parked, func(p Parked) bool { return p.Turn.ID == id })
	if i < 0 {
		return Parked{}, false
	}
	return s.Parked[i], true
}

// restAside returns the records that keep quarantined turns and recent crashes in the journal after a checkpoint.
func (s *State) restAside(now int64, next func(ts int64, f Fact) Record) (records []Record) {
	for _, p := range s.Parked {
		records = append(records, next(p.At, TurnParked{Turn: p.Turn.Message, Kept: true}))
	}
	s.stumbles = slices.DeleteFunc(s.stumbles, func(st Stumble) bool { return now-st.At >= stumbleMemory.Milliseconds() })
	for _, st := range s.stumbles {
		records = append(records, next(st.At, Stumbled{RunID: st.RunID, IngressID: st.IngressID}))
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

// came notes the effects of a turn's arrival, which also apply if the history already contains the turn.
func (s *State) came(t Turn) {
	s.chain(t.Meta.Depth, t.Meta.TS, t.Meta.Seq)
	s.settleStumbles("", t.Meta.IngressID)
}

// Balanced reports whether every accepted ingress is either open or has a fate.
func (s *State) Balanced() bool {
	sum := int64(s.OpenTurns())
	for _, n := range s.counts.Fates {
		sum += n
	}
	return s.Seq == sum
}
