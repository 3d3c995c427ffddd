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

// Words decide only where they are clear: exact, by somebody who may, about
// one request.
func TestWords(t *testing.T) {
	const group = messages.ChatKey("telegram-chat--7")
	for _, tt := range []struct {
		name      string
		key       messages.ChatKey
		requests  int
		who, says string
		approver  string // in a group
		approved  bool
		denied    bool
		model     bool // the words went to the model
		reply     string
	}{
		{"yes", alice, 1, "alice", "yes", "", true, false, false, ""},
		{"Yes with blanks", alice, 1, "alice", " Yes ", "", true, false, false, ""},
		{"同意", alice, 1, "alice", "同意", "", true, false, false, ""},
		{"no", alice, 1, "alice", "no", "", false, true, false, ""},
		{"拒绝", alice, 1, "alice", "拒绝", "", false, true, false, ""},
		{"by number", alice, 2, "alice", "/approve 1", "", true, false, false, ""},
		{"by number, denied", alice, 2, "alice", "/deny #1", "", false, true, false, ""},
		{"yes to one of two", alice, 2, "alice", "yes", "", false, false, true, ""},
		{"more words", alice, 1, "alice", "yes, but", "", false, false, true, ""},
		{"a question", alice, 1, "alice", "yes?", "", false, false, true, ""},
		{"no such number", alice, 1, "alice", "/approve 9", "", false, false, false, "#1"},
		{"no number", alice, 2, "alice", "/approve", "", false, false, false, "#2"},
		{"nothing waits", alice, 0, "alice", "/approve 1", "", false, false, false, "Nothing is waiting"},
		{"no request, just yes", alice, 0, "alice", "yes", "", false, false, true, ""},
		{"in a group", group, 1, "alice", "yes", "", false, false, true, ""},
		{"in a group, not listed", group, 1, "bob", "yes", "alice", false, false, true, ""},
		{"in a group, listed", group, 1, "alice", "yes", "alice", true, false, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := []modeltest.Call{rm("c1", "a"), rm("c2", "b")}
				a := newApprovals(t, func(o *actortest.Options) {
					o.Chat.MayDecide = func(c approval.Claim) bool { return !c.Group || c.Person == tt.approver }
				},
					modeltest.Step{Text: []string{"Well."}, Calls: calls[:tt.requests]}, modeltest.Say("next"))
				a.Say(tt.key, "alice", "go")
				a.Wait()
				said := a.Say(tt.key, tt.who, tt.says)
				a.Wait()
				first := a.View(tt.key).Messages[1]
				state := uimessage.ToolApprovalRequested
				if tt.requests > 0 {
					call, _ := first.Parts[2].(uimessage.Tool)
					state = call.State
				}
				if got := state == uimessage.ToolOutputAvailable; got != tt.approved {
					t.Errorf("approved: %v", got)
				}
				if got := state == uimessage.ToolOutputDenied; got != tt.denied {
					t.Errorf("denied: %v", got)
				}
				if got := len(a.View(tt.key).Messages) > 2; got != tt.model || (said.TurnID != "") != tt.model {
					t.Errorf("went to the model: %v, turn %q", got, said.TurnID)
				}
				if texts := a.Platform.Texts(tt.key); !strings.Contains(texts[len(texts)-1], tt.reply) {
					t.Errorf("people read %q, want %q", texts[len(texts)-1], tt.reply)
				}
				if v := a.View(tt.key); v.Counts.Accepted != 2 || v.Counts.Fates["answered"] != 2 {
					t.Errorf("counts %+v", v.Counts)
				}
			})
		})
	}
}

// Where no outbox takes the host's words to people, they come with the receipt; a
// program's words decide nothing.
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

// Only people who are listed decide in a group, also by id.
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
		for who, want := range map[string]messages.DecisionIs{"bob": messages.DecisionForbidden, "": messages.DecisionForbidden} {
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
