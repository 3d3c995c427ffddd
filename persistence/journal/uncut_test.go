package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
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

// A queued turn that was stopped stays stopped after a checkpoint whose journal was not cut: it is not open again and
// gets no second fate.
func TestUncutCheckpointKeepsStoppedTurnsStopped(t *testing.T) {
	live, err := Replay(Snapshot{History: []uimessage.Message{said("u1", 1)}})
	stdtest.Must(t, err)
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
		stdtest.Must(t, live.Apply(records[0]))
	}
	checkpoint := live.Checkpoint(1)
	again, err := Replay(Snapshot{History: append([]uimessage.Message{said("u1", 1)}, checkpoint.History...), Journal: journal, LedgerN: 5})
	stdtest.Must(t, err)
	if open := again.Open(); len(open) > 0 || len(again.History) != 2 {
		t.Errorf("%d open turns, %d in the history; want none and 2", len(open), len(again.History))
	}
}

// Cutting the history inside a run that merged turns leaves the first turn open, because its answer is removed.
func TestEndsOpen(t *testing.T) {
	s, err := Replay(Snapshot{History: []uimessage.Message{
		said("u1", 1), answered("a1", "r", ""), said("u2", 2), answered("a2", "r", "done"), said("u3", 3),
	}})
	stdtest.Must(t, err)
	for n, want := range []bool{false, true, true, true, false, true} {
		if got := s.EndsOpen(n); got != want {
			t.Errorf("EndsOpen(%d) = %t, want %t", n, got, want)
		}
	}
}

// A skill that a run loaded stays loaded if a checkpoint moved the end of the run but the process ended before the
// meta file and the journal were written.
func TestUncutCheckpointKeepsPins(t *testing.T) {
	user := said("u1", 1)
	live, err := Replay(Snapshot{History: []uimessage.Message{user}})
	stdtest.Must(t, err)
	old := live.Meta()
	call := func(id string) uimessage.Tool {
		return uimessage.Tool{ToolCallID: id, Name: "skills_load", State: uimessage.ToolOutputAvailable, Input: []byte(`{}`), Output: []byte(`1`)}
	}
	var journal []Record
	for _, f := range []Fact{
		RunStarted{RunID: "r", MessageID: "a1", Attempt: 1},
		StepResponded{RunID: "r", MessageID: "a1", Step: 1, Parts: []uimessage.Part{call("c1"), call("c2"), call("c3")}},
		ToolFinished{RunID: "r", MessageID: "a1", Part: call("c1"), Skill: messages.SkillOrder{Name: "one", Digest: "d1"}},
		ToolFinished{RunID: "r", MessageID: "a1", Part: call("c2"), Skill: messages.SkillOrder{Name: "two", Digest: "d2"}},
		ToolFinished{RunID: "r", MessageID: "a1", Part: call("c3"), Skill: messages.SkillOrder{Name: "one"}}, // unloaded again
		RunFinished{RunID: "r", Message: answered("a1", "r", "done"), Result: ResultDone, Fates: []Settled{{TurnID: "u1", Fate: FateAnswered}}},
	} {
		records := live.Next(1, f)
		journal = append(journal, records...)
		stdtest.Must(t, live.Apply(records[0]))
	}
	checkpoint := live.Checkpoint(1)
	history := append([]uimessage.Message{user}, checkpoint.History...)
	for name, meta := range map[string]Meta{"before the meta file": old, "before the cut": checkpoint.Meta} {
		again, err := Replay(Snapshot{History: history, Journal: journal, Meta: meta, LedgerN: 6})
		stdtest.Must(t, err)
		if diff := cmp.Diff(live.Pins(), again.Pins()); diff != "" || len(live.Pins()) != 1 {
			t.Errorf("%s: pins (-live +again):\n%s", name, diff)
		}
	}
}

// A turn that was quarantined and dropped leaves facts in the journal, although a checkpoint has nothing to move for
// them. Later turns must not bypass them into the history.
func TestDroppedTurnIsNotClean(t *testing.T) {
	s, err := Replay(Snapshot{})
	stdtest.Must(t, err)
	take := func(f Fact) {
		t.Helper()
		stdtest.Must(t, s.Apply(s.Next(1, f)[0]))
	}
	take(TurnQuarantined{Turn: said("u1", 1), Ingress: &Ingress{ID: "i1", Seq: 1}})
	s.Checkpoint(1)
	s.Checkpointed()
	if s.Clean() {
		t.Error("clean although the journal keeps what was put aside")
	}
	take(TurnReleased{TurnID: "u1", Outcome: EgressDropped})
	if s.Clean() {
		t.Error("clean with facts in the journal")
	}
	s.Checkpoint(1)
	s.Checkpointed()
	if !s.Clean() {
		t.Error("not clean with an empty journal")
	}
}

// A run that continues another run's message closes that message with a result before its own end. After a crash
// during a checkpoint this must not be taken for the end of the run.
func TestUncutCheckpointKeepsTheOrderOfARunThatContinued(t *testing.T) {
	asked := answered("a1", "r1", "waiting")
	before := []uimessage.Message{said("u1", 1), asked}
	live, err := Replay(Snapshot{History: before})
	stdtest.Must(t, err)
	var journal []Record
	for _, f := range []Fact{
		RunStarted{RunID: "r2", MessageID: "a1", Attempt: 1},
		TurnAccepted{Turn: said("u2", 2)},
		TurnsMerged{RunID: "r2", Step: 2, Closed: answered("a1", "r2", "done"), MessageID: "a2", Turns: []string{"u2"}},
		TurnAccepted{Turn: said("u3", 3)},
		RunFinished{RunID: "r2", Message: answered("a2", "r2", "done"), Result: ResultDone, Fates: []Settled{{TurnID: "u2", Fate: FateAnswered, RunID: "r2"}}},
	} {
		records := live.Next(1, f)
		journal = append(journal, records...)
		stdtest.Must(t, live.Apply(records[0]))
	}
	// Only the first message of the checkpoint was written.
	again, err := Replay(Snapshot{History: []uimessage.Message{before[0], live.Checkpoint(1).History[0]}, Journal: journal})
	stdtest.Must(t, err)
	order := func(s *State) (ids []string) {
		for _, turn := range s.History {
			ids = append(ids, turn.ID)
		}
		return ids
	}
	if diff := cmp.Diff(order(live), order(again)); diff != "" {
		t.Errorf("the history differs after a crash (-before +after):\n%s", diff)
	}
}
