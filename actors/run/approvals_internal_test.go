package run

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A person approved one call. Another call with the same id is not approved.
func TestAgreedToOneCallOnly(t *testing.T) {
	a := newApprovals(messages.StartRun{})
	agreed := loop.Call{ID: "call_0", Name: "exec_shell", Input: json.RawMessage(`{"command":"git status"}`)}
	a.approve(agreed)
	ask := tool.Verdict{Decision: tool.Ask}
	if err := a.refuse(ask, agreed); err != nil {
		t.Errorf("the call that was agreed to: %v", err)
	}
	for _, other := range []loop.Call{
		{ID: "call_0", Name: "exec_shell", Input: json.RawMessage(`{"command":"git push"}`)},
		{ID: "call_0", Name: "write_file", Input: agreed.Input},
		{ID: "call_1", Name: agreed.Name, Input: agreed.Input},
	} {
		if err := a.refuse(ask, other); !errors.Is(err, errUnapproved) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if err := a.refuse(tool.Verdict{Decision: tool.Deny, Reason: "a rule"}, agreed); err == nil {
		t.Error("a prohibition that came later was passed over")
	}
}
