package run

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// errUnapproved is the outcome of a call that nobody agreed to. It is the last
// guard: the step engine does not hand such calls out.
var errUnapproved = errors.New("not executed: a person has not approved this call")

// approvals knows what a run may execute of the tools that ask. Only calls that
// a person approved pass; a call that equals one that waits already is told so.
type approvals struct {
	begun    bool                   // the run has begun: what asks now is the model's
	approved map[string]bool        // ids
	agreed   map[string]bool        // the very calls: models give an id twice now and then
	binds    map[string]string      // of approved calls, by call id
	waiting  []messages.OpenRequest // in the chat when the run began
	own      []messages.OpenRequest // of the step under way
	next     int
	grants   []messages.Grant // of the chat
	// explained is what tools said of calls that ask, and asked what people have to be
	// shown of the step under way.
	explained map[string]explained
	asked     []messages.AskedCall
}

func newApprovals(msg messages.StartRun) approvals {
	a := approvals{
		approved: map[string]bool{}, agreed: map[string]bool{}, binds: map[string]string{}, explained: map[string]explained{},
		waiting: msg.Waiting, next: msg.NextRequest, grants: msg.Grants,
	}
	for _, c := range msg.Approved {
		a.binds[c.CallID] = c.Bind
	}
	return a
}

// approve lets a call pass.
func (a *approvals) approve(c loop.Call) { a.approved[c.ID], a.agreed[callKey(c)] = true, true }

// callKey tells calls apart, whatever their ids are.
func callKey(c loop.Call) string { return c.ID + "\n" + c.Name + "\n" + string(c.Input) }

// asks says whether a person has to be asked, which is so unless they are being
// asked about the same already.
func (a *approvals) asks(c loop.Call) bool {
	e := a.explained[callKey(c)]
	if e.err != nil || a.same(c) != 0 {
		return false
	}
	a.own = append(a.own, messages.OpenRequest{N: a.next + len(a.own), Name: c.Name, Input: c.Input, Bind: e.Bind})
	a.asked = append(a.asked, e.AskedCall)
	return true
}

// same is the number of the open request with the same tool, input and binding; 0: none.
func (a *approvals) same(c loop.Call) int {
	bind := a.explained[callKey(c)].Bind
	for _, list := range [][]messages.OpenRequest{a.waiting, a.own} {
		for _, r := range list {
			if r.Name == c.Name && r.Bind == bind && bytes.Equal(loop.Canonical(r.Input), loop.Canonical(c.Input)) {
				return r.N
			}
		}
	}
	return 0
}

// restart forgets the step under way.
func (a *approvals) restart() { a.own, a.asked = nil, nil }

// takeAsked hands over what people have to be shown of a step.
func (a *approvals) takeAsked() []messages.AskedCall {
	asked := a.asked
	a.asked = nil
	return asked
}

// refuse says why a call may not be executed; nil: it may.
func (a *approvals) refuse(v tool.Verdict, c loop.Call) error {
	switch {
	case v.Decision == tool.Allow:
		return nil
	case v.Decision == tool.Deny:
		return fmt.Errorf("not allowed: %s", v.Reason)
	case a.agreed[callKey(c)]:
		return nil
	}
	if err := a.explained[callKey(c)].err; err != nil {
		return err
	}
	if n := a.same(c); n != 0 {
		return fmt.Errorf("already waiting as #%d, not executed", n)
	}
	return errUnapproved
}

// judge asks the policy of the tools about a call.
func (r *run) judge(t tool.Tool, c loop.Call) tool.Verdict {
	if v, ok := r.narrowed(c); ok {
		return v
	}
	return tool.BySpec(t, r.call(c))
}

// asks says whether a call needs a person. Those that a run begins with were
// approved already; they are looked at again, and fall only to a denial.
func (r *run) asks(t tool.Tool, c loop.Call) bool {
	d := r.rule(t, c).Decision
	if !r.gate.begun {
		return d != tool.Deny
	}
	if d != tool.Ask {
		return false
	}
	r.explain(t, c)
	return r.gate.asks(c)
}

// executeApproved runs calls that a person approved while this run was about
// something else. They are looked at once more, as those of a run's own message.
func (r *run) executeApproved(ac actor.Context, msg messages.ContinueRun) {
	r.calls, r.between = nil, true
	for _, a := range msg.Approved {
		c := loop.Call{ID: a.CallID, Name: a.Name, Input: a.Input}
		if err := r.Tools.Validate(c.Name, c.Input); err != nil {
			c.Err = &loop.InvalidInputError{Tool: c.Name, Err: err}
		}
		r.gate.approve(c)
		r.gate.binds[c.ID] = a.Bind
		r.calls = append(r.calls, c)
	}
	r.execute(ac, messages.ExecuteCalls{RunID: msg.RunID, LaneEmpty: msg.Input.LaneEmpty})
}
