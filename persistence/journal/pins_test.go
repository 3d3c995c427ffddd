package journal

import (
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func TestPin(t *testing.T) {
	s := &State{}
	var many []string
	for i := range MaxPinned {
		many = append(many, fmt.Sprintf("s%d@sha256:x", i+2))
	}
	for _, tt := range []struct {
		name   string
		orders []messages.SkillOrder
		want   []string
	}{
		{"none", []messages.SkillOrder{{}}, nil},
		{"two in their order", []messages.SkillOrder{{Name: "b", Digest: "sha256:1"}, {Name: "a", Digest: "sha256:2"}}, []string{"b@sha256:1", "a@sha256:2"}},
		{"the same again stays where it is", []messages.SkillOrder{{Name: "b", Digest: "sha256:1"}}, []string{"b@sha256:1", "a@sha256:2"}},
		{"another digest takes the place", []messages.SkillOrder{{Name: "b", Digest: "sha256:3"}}, []string{"a@sha256:2", "b@sha256:3"}},
		{"put away", []messages.SkillOrder{{Name: "a"}, {Name: "unknown"}}, []string{"b@sha256:3"}},
		{"no more than the bound", func() (out []messages.SkillOrder) {
			for i := range MaxPinned + 2 {
				out = append(out, messages.SkillOrder{Name: fmt.Sprintf("s%d", i), Digest: "sha256:x"})
			}
			return out
		}(), many},
	} {
		for _, o := range tt.orders {
			s.pin(o)
		}
		stdtest.Diff(t, fmt.Sprintf("%s: pinned", tt.name), tt.want, s.Pinned)
	}
	if got := s.Pins()[0]; got != (messages.SkillPin{Name: "s2", Digest: "sha256:x"}) {
		t.Errorf("pin %+v", got)
	}
	if got := messages.ParseSkillPin("old"); got != (messages.SkillPin{Name: "old"}) {
		t.Errorf("a pin without a digest: %+v", got)
	}
}

// An order is part of the outcome of its call and survives a crash together with it. Orders that the meta file already
// contains are not applied again.
func TestPinIsReplayed(t *testing.T) {
	call := uimessage.Tool{Name: "skills_load", ToolCallID: "c1", State: uimessage.ToolInputAvailable, Input: []byte(`{"name":"pdf"}`)}
	done := call
	done.State, done.Output = uimessage.ToolOutputAvailable, []byte(`{}`)
	order := messages.SkillOrder{Name: "pdf", Digest: "sha256:1"}
	facts := []Fact{
		RunStarted{RunID: "r1", MessageID: "a1", RequestID: "q1", Attempt: 1},
		StepResponded{RunID: "r1", MessageID: "a1", Step: 1, Parts: []uimessage.Part{call}},
		ToolFinished{RunID: "r1", MessageID: "a1", Part: done, Skill: order},
	}
	live := &State{ids: newRingSet(), turns: newIDSet(0), counts: Counts{}.clone()}
	var journal []Record
	for _, r := range live.Next(1, facts...) {
		again, err := ParseRecord(AppendRecord(nil, r))
		stdtest.Must(t, err)
		journal = append(journal, again)
	}
	for cut := range len(journal) + 1 {
		s, err := Replay(Snapshot{Journal: journal[:cut]})
		stdtest.Must(t, err)
		var want []string
		if cut == len(journal) {
			want = []string{"pdf@sha256:1"}
		}
		stdtest.Diff(t, fmt.Sprintf("after %d records: pinned", cut), want, s.Pinned)
	}
	over := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Metadata: uimessage.Metadata{RunID: "r1", Result: string(ResultDone)}.Append(nil)}
	s, err := Replay(Snapshot{History: []uimessage.Message{over}, Journal: journal, Meta: Meta{Version: MetaVersion, N: 3}})
	if err != nil || len(s.Pinned) != 0 {
		t.Errorf("of a run that the meta file knows: pinned %v, %v", s.Pinned, err)
	}
}
