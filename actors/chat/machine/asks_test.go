package machine_test

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A call that waits for its row is answered if the chat has to be loaded again, and the chat hibernates like any other.
func TestCallsThatWaitedBeforeALoad(t *testing.T) {
	w := newWorld(1)
	w.calm = true
	adapter := decision.Adapter{Ref: "adapter", Outbox: true}
	w.opts.Adapter = func(string) (decision.Adapter, bool) { return adapter, true }
	w.start()
	w.decide(messages.QueueEgress{ChatKey: testChat, CallID: "c1", Text: "hello"}, "caller", "")
	if len(w.rows) != 1 {
		t.Fatalf("%d rows are sent", len(w.rows))
	}
	failed := messages.EgressFailed{ChatKey: testChat, Row: w.rows[0].Row, Reason: "gone"}
	if _, err := w.write(w.m.Decide(decision.Input{Msg: failed, Now: w.now, NewID: newID(1)})); err != nil {
		t.Fatal(err)
	}
	w.m = w.m.Left() // the disk did not say that the write succeeded
	w.load()
	rest := w.timers["rest"]
	w.now = w.now.Add(time.Minute)
	w.decide(rest.msg, nil, "")
	if !w.asleep || len(w.failed) > 0 {
		t.Errorf("the chat hibernates: %v, %v", w.asleep, w.failed)
	}
}
