package loop_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func answeredPart(id, name string, approved bool, change func(*uimessage.Tool)) uimessage.Tool {
	p := uimessage.Tool{
		ToolCallID: id, Name: name, State: uimessage.ToolApprovalResponded, Input: json.RawMessage(`{"a":1}`),
		Approval: &uimessage.Approval{ID: "ap-" + id, Approved: uimessage.Some(approved)},
	}
	if change != nil {
		change(&p)
	}
	return p
}

func TestContinuedMessage(t *testing.T) {
	text := uimessage.Text{Text: "done"}
	border := uimessage.StepStart{}
	ok := answeredPart("c1", "ask", true, nil)
	tests := []struct {
		name  string
		role  uimessage.Role
		parts []uimessage.Part
		calls []string
		want  []string
	}{
		{"approved", "assistant", []uimessage.Part{border, ok}, []string{"c1"}, nil},
		{"denied", "assistant", []uimessage.Part{border, answeredPart("c1", "ask", false, nil)}, nil, []string{"tool-output-denied c1"}},
		{"the step went on", "assistant", []uimessage.Part{border, ok, border, text}, nil, nil},
		{"an empty step behind it", "assistant", []uimessage.Part{border, ok, border}, []string{"c1"}, nil},
		{"data behind it", "assistant", []uimessage.Part{border, ok, border, uimessage.Data{Name: "x"}}, []string{"c1"}, nil},
		{"settled", "assistant", []uimessage.Part{border, answeredPart("c1", "ask", true, func(p *uimessage.Tool) {
			p.State = uimessage.ToolOutputAvailable
		})}, nil, nil},
		{"answered twice", "assistant", []uimessage.Part{border, ok, answeredPart("c1", "ask", false, nil)}, []string{"c1"}, nil},
		{"never asks", "assistant", []uimessage.Part{border, answeredPart("c1", "run", true, nil)}, nil, []string{"tool-output-denied c1"}},
		{"tool is gone", "assistant", []uimessage.Part{border, answeredPart("c1", "gone", true, nil)}, nil, []string{"tool-output-denied c1"}},
		{"by the provider", "assistant", []uimessage.Part{border, answeredPart("c1", "ask", true, func(p *uimessage.Tool) {
			p.ProviderExecuted = uimessage.Some(true)
		})}, nil, nil},
		{"input no longer fits", "assistant", []uimessage.Part{border, answeredPart("c1", "ask", true, func(p *uimessage.Tool) {
			p.Input = json.RawMessage(`{"bad":1}`)
		})}, nil, []string{"tool-output-error c1 Invalid input for tool ask: bad"}},
		{"another input than was shown", "assistant", []uimessage.Part{border, answeredPart("c1", "ask", true, func(p *uimessage.Tool) {
			a := *p.Approval
			a.InputSchemaInput = json.RawMessage(`{"a":2}`)
			p.Approval = &a
		})}, nil, []string{"tool-output-error c1 Invalid input for tool ask: " + loop.ErrNotAsIs.Error()}},
		{"of a user", "user", []uimessage.Part{ok}, nil, nil},
	}
	asks := func(loop.Call) bool { return true }
	check := func(_ string, in json.RawMessage) error {
		if string(in) == `{"bad":1}` {
			return errors.New("bad")
		}
		return nil
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, calls := start(t, loop.Config{Tools: []loop.Tool{
				{Name: "ask", Asks: asks, Check: check}, {Name: "run"},
			}}, uimessage.Message{ID: "old", Role: tt.role, Parts: tt.parts})
			id := "start old"
			if tt.role == uimessage.RoleUser {
				id = "start m1"
			}
			r.want(append([]string{id}, tt.want...)...)
			if diff := cmp.Diff(names(calls), tt.calls); diff != "" {
				t.Errorf("calls: -got +want\n%s", diff)
			}
		})
	}
}

// An approved call does not belong to the next step: it neither continues the run nor delays it.
func TestApprovedCallsAreNotOfTheNextStep(t *testing.T) {
	r, calls := start(t, loop.Config{Tools: []loop.Tool{{Name: "ask", Asks: func(loop.Call) bool { return true }}}},
		uimessage.Message{ID: "old", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{answeredPart("c1", "ask", true, nil)}})
	for _, c := range calls {
		r.take(r.ToolError(c.ID, errors.New("locked")))
	}
	_, d := r.step(said("t", "a pity")...)
	if d.Next != loop.NextDone {
		t.Errorf("decision %+v", d)
	}
	r.want("start old", "tool-output-error c1 locked", "start-step", "text-start t", "text-delta t", "text-end t", "finish-step")
}
