package run

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// errUnapproved is the outcome of a call without approval. This is a second check: the step engine
// does not return such calls for execution.
var errUnapproved = errors.New("not executed: a person has not approved this call")

// approvals remembers what people were asked and what they approved. Of the calls that need approval, only those
// that a person approved pass; a call that equals a pending one is answered with that. See [run.decide].
type approvals struct {
	begun   bool                             // the run has started: further requests are the model's
	agreed  map[string]bool                  // exact calls that a person approved and that have not begun, because models sometimes use an id twice
	given   map[string]messages.ApprovedCall // of these, by call id
	waiting []messages.OpenRequest           // in the chat when the run started
	own     []messages.OpenRequest           // of the current step
	next    int
	grants  []messages.Grant // of the chat
	// rulings are those of the step's calls, as they arrived, until the chat has the step.
	rulings map[string]ruling
	// explained is what tools said about calls that need approval, and asked is what people have to
	// see of the current step.
	explained map[string]explained
	asked     []messages.AskedCall
}

func newApprovals(msg messages.StartRun) approvals {
	a := approvals{
		agreed: map[string]bool{}, given: map[string]messages.ApprovedCall{}, rulings: map[string]ruling{}, explained: map[string]explained{},
		waiting: msg.Waiting, next: msg.NextRequest, grants: msg.Grants,
	}
	for _, c := range msg.Approved {
		a.given[c.CallID] = c
	}
	return a
}

// approve lets a call pass.
func (a *approvals) approve(c loop.Call) { a.agreed[callKey(c)] = true }

// spend forgets an approval when its call begins or is refused. It counts once: the same call again is another one, even
// with the same id.
func (a *approvals) spend(c loop.Call) {
	delete(a.agreed, callKey(c))
	delete(a.given, c.ID)
}

// callKey distinguishes calls even if they have the same id.
func callKey(c loop.Call) string { return c.ID + "\n" + c.Name + "\n" + string(c.Input) }

// asks says whether a person has to be asked, which is not so if the same request is already open.
// The operator's rule, if any, would cover the call once they agree.
func (a *approvals) asks(c loop.Call, rule string) bool {
	e := a.explained[callKey(c)]
	if e.err != nil || a.same(c) != 0 {
		return false
	}
	a.own = append(a.own, messages.OpenRequest{N: a.next + len(a.own), Name: c.Name, Input: c.Input, Bind: e.Bind})
	e.Rule = rule
	a.asked = append(a.asked, e.AskedCall)
	return true
}

// same is the number of the open request with the same tool, input and binding, or 0.
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

// restart forgets the current step.
func (a *approvals) restart() {
	a.own, a.asked = nil, nil
	clear(a.rulings)
}

// takeAsked returns what people have to see of a step that the chat now gets, and clears it.
func (a *approvals) takeAsked() []messages.AskedCall {
	asked := a.asked
	a.asked = nil
	clear(a.rulings)
	return asked
}

// regrant takes the grants of the chat. Rulings that may have come from earlier ones are made again.
func (a *approvals) regrant(grants []messages.Grant) {
	a.grants = grants
	clear(a.rulings)
}

// refuse says why a call may not be executed; nil means it may.
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
