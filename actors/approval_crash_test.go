package actors_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// The process is killed at every operation of the store in turn. A call runs at most once, and the conversation
// completes.
func TestApprovalSurvivesEveryCrash(t *testing.T) {
	for _, late := range []bool{false, true} {
		for at := 1; ; at++ {
			died := false
			t.Run(fmt.Sprintf("late=%v/at=%d", late, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { died = dieAt(t, at, late) })
			})
			if !died || t.Failed() {
				break
			}
		}
	}
}

var errDied = errors.New("the process is gone")

// dieAt plays one conversation with a crash at the n-th operation, and reports whether there was such an operation.
func dieAt(t *testing.T, at int, late bool) bool {
	t.Helper()
	var n atomic.Int64
	store := newStore(t)
	a := newApprovals(t, func(o *actortest.Options) {
		o.Store = store
		o.Fail = func(string) error {
			if n.Add(1) >= int64(at) {
				return errDied
			}
			return nil
		}
	})
	a.script.Otherwise = &modeltest.Step{Do: answerAll}
	play := func() {
		a.say("1", "remove a")
		if late {
			a.say("2", "hi")
		}
		for _, id := range a.open() {
			_, _ = a.Port.Decide(t.Context(), alice, platform.Person{ID: "alice"}, []messages.Decision{{ApprovalID: id, Approved: true}})
		}
		a.pass(2 * time.Second)
	}
	play()
	died := n.Load() >= int64(at)
	a.World = a.Again(func(o *actortest.Options) { o.Fail = nil })
	a.Wait()
	play() // what was not confirmed is brought again
	if ids := a.open(); len(ids) != 0 {
		t.Errorf("still open: %v", ids)
	}
	history := strings.Join(a.history(), "\n")
	ran, available := a.tool.ran.Load(), strings.Count(history, "output-available")
	if ran > 1 || ran == 1 && available == 0 && !strings.Contains(history, "output-error") || !strings.HasSuffix(history, "I see.") {
		t.Errorf("the tool ran %d times:\n%s", ran, history)
	}
	a.sound()
	return died
}

// say delivers a message, perhaps for the second time.
func (a *approvals) say(id, text string) {
	in := a.Inbound(alice, "alice", text)
	in.IngressID, in.MessageID, in.Time = id, id, time.UnixMilli(946684800000)
	a.Port.Accept(a.t.Context(), inbounds(in)) // an error: brought again after the crash
	a.Wait()
}

// answerAll calls the tool when asked to remove something, and otherwise talks.
func answerAll(req model.Request) []model.Event {
	last := req.Messages[len(req.Messages)-1]
	for _, p := range last.Parts {
		if text, ok := p.(modelmessage.Text); ok && strings.HasPrefix(text.Text, "remove") {
			return append(modeltest.CallEvents(rm("c1", "a")), modeltest.Finish("tool-calls"))
		}
	}
	return append(modeltest.TextEvents("I see."), modeltest.Finish("stop"))
}
