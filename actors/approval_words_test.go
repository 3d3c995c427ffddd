package actors_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Without an outbox, people get the host's texts with the receipt. Words of a program decide nothing.
func TestWordsWithoutAnOutbox(t *testing.T) {
	for _, tt := range []struct {
		key          messages.ChatKey
		says, answer string
		want         uimessage.ToolState
	}{
		{"web-chat-w", "yes", "Approved", uimessage.ToolOutputAvailable},
		{"web-chat-w", "同意", "已批准", uimessage.ToolOutputAvailable},
		{"web-chat-w", "no", "Denied", uimessage.ToolOutputDenied},
		{"web-chat-w", "yes, but", "", uimessage.ToolApprovalRequested},
		{"cli-chat-w", "yes", "Approved", uimessage.ToolOutputAvailable},
		{"api-chat-w", "yes", "", uimessage.ToolApprovalRequested},
	} {
		t.Run(string(tt.key)+" "+tt.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, func(o *actortest.Options) { o.Platform = &actortest.Platform{} },
					modeltest.CallTools(rm("c1", "a")), modeltest.Say("next"))
				a.Say(tt.key, "alice", "go")
				a.Wait()
				said := a.Say(tt.key, "alice", tt.says)
				a.Wait()
				if !strings.HasPrefix(said.Answer, tt.answer) || (said.Answer == "") != (tt.answer == "") {
					t.Errorf("the host says %q", said.Answer)
				}
				call, _ := a.View(tt.key).Messages[1].Parts[1].(uimessage.Tool)
				if call.State != tt.want {
					t.Errorf("the call is %s", call.State)
				}
			})
		})
	}
}

// Only the listed people decide in a group, also if they are listed by id.
func TestGroupDecisionsByID(t *testing.T) {
	const group = messages.ChatKey("telegram-chat--7")
	synctest.Test(t, func(t *testing.T) {
		var audit []decision.AuditEntry
		a := newApprovals(t, func(o *actortest.Options) {
			o.Chat.MayDecide = func(c approval.Claim) bool { return c.Person == "alice" }
			o.Chat.Audit = func(e decision.AuditEntry) {
				if e.Event == "approval" {
					audit = append(audit, e)
				}
			}
		}, modeltest.CallTools(rm("c1", "a")), modeltest.Say("Gone."))
		a.Say(group, "bob", "remove a")
		a.Wait()
		part, _ := a.View(group).Messages[1].Parts[1].(uimessage.Tool)
		for who, want := range map[string]messages.DecisionState{"bob": messages.DecisionForbidden, "": messages.DecisionForbidden} {
			out, err := a.Port.Decide(t.Context(), group, platform.Person{ID: who}, []messages.Decision{{ApprovalID: part.Approval.ID, Approved: true}})
			if err != nil || out[0].Is != want {
				t.Errorf("%q: %v, %v", who, out, err)
			}
		}
		out, err := a.Port.Decide(t.Context(), group, platform.Person{ID: "alice"}, []messages.Decision{{ApprovalID: part.Approval.ID, Approved: true}})
		a.Wait()
		if err != nil || out[0].Is != messages.DecisionDone {
			t.Errorf("alice: %v, %v", out, err)
		}
		a.ran(1)
		if len(audit) != 2 || audit[0].Result != "asked" || audit[1].Result != "approved" || audit[1].By != "telegram-alice" ||
			len(audit[1].Digest) != 64 || audit[1].Digest != audit[0].Digest || audit[1].Name != "rm" {
			t.Errorf("audit %+v", audit)
		}
	})
}
