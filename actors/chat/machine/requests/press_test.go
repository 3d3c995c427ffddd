package requests

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A press on a request of another chat is answered in time even if that chat never answers.
func TestPressOnARequestElsewhereIsAnswered(t *testing.T) {
	s, err := journal.Replay(journal.Snapshot{})
	stdtest.Must(t, err)
	g := journal.ReferredRequest{Request: journal.Request{ID: "ap1", N: 1, Digest: "d"}, Origin: "telegram-chat--5", Person: "7"}
	for _, r := range s.Next(1, journal.ReferredRequestShown{Request: g}) {
		stdtest.Must(t, s.Apply(r))
	}
	o := decision.Options{Refers: true, Adapter: func(string) (decision.Adapter, bool) { return decision.Adapter{Outbox: true, Ref: "x"}, true }}
	b := decision.NewBase(&o, "telegram-chat-7")
	b.State = s
	q := Requests{Base: &b}
	now := time.Unix(1000, 0)
	press := messages.DecideApproval{
		ChatKey: "telegram-chat-7", RequestID: "p1", By: messages.Asker{Platform: "telegram", ID: "7"}, Wait: 12 * time.Second,
		Say: []messages.Decision{{ApprovalID: "ap1", Approved: true, Digest: "d"}},
	}
	for i := range 20 {
		b.Begin(decision.Input{Now: now, Msg: press, Sender: "who", NewID: func(time.Time) string { return "id" }})
		if i > 0 {
			b.Retake() // the timer HeldDue; the shell resends
		}
		q.DecideByID(press)
		p := b.End()
		answered := false
		for _, e := range p.Effects {
			if m, ok := e.(decision.Send); ok {
				_, toOther := m.Msg.(messages.DecideReferred)
				answered = answered || !toOther
			}
		}
		if answered {
			return
		}
		now = now.Add(10 * time.Second)
	}
	t.Errorf("after %s the press is still held, %d held", now.Sub(time.Unix(1000, 0)), b.Waits.Len())
}
