package persistence

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func said(id string, seq int64) uimessage.Message {
	meta := uimessage.Metadata{Seq: seq, IngressID: id}
	return uimessage.Message{ID: id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: id}}, Metadata: meta.Append(nil)}
}

func answered(id, runID, result string) uimessage.Message {
	meta := uimessage.Metadata{RunID: runID, Result: result}
	return uimessage.Message{ID: id, Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: id}}, Metadata: meta.Append(nil)}
}

// A turn that waited and was stopped stays stopped when a fold moved everything
// out and the journal was not cut: it is not open again, and gets no second fate.
func TestUncutFoldKeepsStoppedTurnsStopped(t *testing.T) {
	live, err := Replay(Snapshot{History: []uimessage.Message{said("u1", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	var journal []Record
	for _, f := range []Fact{
		RunStarted{RunID: "r", MessageID: "a1", Attempt: 1},
		TurnAccepted{Turn: said("u2", 2)},
		StopRequested{RunID: "r"},
		TurnsSettled{Fates: []Settled{{TurnID: "u2", Fate: FateStopped}}},
		RunFinished{RunID: "r", Message: answered("a1", "r", "stopped"), Result: ResultStopped, Fates: []Settled{{TurnID: "u1", Fate: FateStopped}}},
	} {
		records := live.Next(1, f)
		journal = append(journal, records...)
		if err := live.Apply(records[0]); err != nil {
			t.Fatal(err)
		}
	}
	fold := live.Fold(1)
	again, err := Replay(Snapshot{History: append([]uimessage.Message{said("u1", 1)}, fold.History...), Journal: journal, LedgerN: 5})
	if err != nil {
		t.Fatal(err)
	}
	if open := again.Open(); len(open) > 0 || len(again.History) != 2 {
		t.Errorf("%d open turns, %d in the history; want none and 2", len(open), len(again.History))
	}
}

// A cut inside of a run that merged turns leaves the first of them without its
// answer, and open unless somebody closes it.
func TestEndsOpen(t *testing.T) {
	s, err := Replay(Snapshot{History: []uimessage.Message{
		said("u1", 1), answered("a1", "r", ""), said("u2", 2), answered("a2", "r", "done"), said("u3", 3),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{false, true, true, true, false, true} {
		if got := s.EndsOpen(n); got != want {
			t.Errorf("EndsOpen(%d) = %t, want %t", n, got, want)
		}
	}
}
