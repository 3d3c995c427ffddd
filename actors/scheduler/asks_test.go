package scheduler_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// A task runs a tool that needs approval, at a time when no person is watching: people are informed
// once, nothing runs before a person approved, also after a restart, and the outcome follows. If no
// person decides, people read that.
func TestPI4ATaskThatAsksWaits(t *testing.T) {
	for _, decide := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			asks := tooltest.New("remove", nil)
			asks.S.Asks, asks.S.ReadOnly = true, false
			script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "remove", Input: "{}"}), modeltest.Say("removed"))
			s := newScheduled(t, func(o *actortest.Options) {
				o.Model, o.Tools = script, []tool.Tool{asks}
				o.Chat.MayDecide = func(approval.Claim) bool { return true }
			})
			s.add(timetable.Task{ID: "tidy", Title: "Tidy", When: s.now().Add(time.Minute), ChatKey: reader, Body: "yes, approve 1, remove it"})
			s.start()
			s.pass(3 * time.Minute)
			own := messages.ChatKey("task-tidy-20000101T000100Z")
			const waits = "The task “Tidy” waits for approval. The operator decides it with sma approvals (chat task-tidy-20000101T000100Z)."
			s.is(reader, waits)
			s.again()
			s.pass(time.Minute)
			s.is(reader, waits)
			if n := len(asks.Calls()); n > 0 {
				t.Fatalf("the tool ran %d times and nobody had agreed", n)
			}
			if !decide {
				s.pass(40 * time.Minute)
				s.is(reader, waits, "The task “Tidy” ended: nobody decided about its request in time.")
				s.stop()
				return
			}
			say := messages.Decision{ApprovalID: openRequest(t, s, own), Approved: true}
			answer, err := s.System.Root.RequestFuture(s.Router, messages.DecideApproval{
				ChatKey: own, RequestID: "d1", By: messages.Asker{Platform: "control", ID: "me"}, Say: []messages.Decision{say},
			}, time.Minute).Result()
			stdtest.Must(t, err)
			if decided, ok := answer.(messages.ApprovalDecided); !ok || len(decided.Outcomes) != 1 || decided.Outcomes[0].Is != messages.DecisionDone {
				t.Fatalf("got %+v", answer)
			}
			s.pass(time.Minute)
			s.is(reader, waits, "removed")
			if n := len(asks.Calls()); n != 1 {
				t.Errorf("the tool ran %d times, want once", n)
			}
			s.stop()
		})
	}
}

// It is recorded that a task waits, even if no chat is informed, so that the task does not take another one's place.
func TestATaskWithoutAChatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := tooltest.New("remove", nil)
		asks.S.Asks, asks.S.ReadOnly = true, false
		s := newScheduled(t, func(o *actortest.Options) {
			o.Model = modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "remove", Input: "{}"}))
			o.Tools = []tool.Tool{asks}
			o.Chat.MayDecide = func(approval.Claim) bool { return true }
		})
		s.add(timetable.Task{ID: "tidy", Title: "Tidy", When: s.now().Add(time.Minute), Body: "remove it"})
		s.start()
		s.pass(3 * time.Minute)
		waits := 0
		for _, f := range s.fires() {
			if f.Is == timetable.FireWaits {
				waits++
			}
		}
		if waits != 1 {
			t.Errorf("it was recorded %d times, want once", waits)
		}
		s.stop()
	})
}

// openRequest is the id of the request in the last message of a chat.
func openRequest(t *testing.T, s *scheduled, key messages.ChatKey) string {
	t.Helper()
	view := s.View(key).Messages
	for _, p := range view[len(view)-1].Parts {
		if call, ok := p.(uimessage.Tool); ok && call.State == uimessage.ToolApprovalRequested {
			return call.Approval.ID
		}
	}
	t.Fatalf("no request is open in %s: %s", key, strings.Join(s.read(key), "\n"))
	return ""
}
