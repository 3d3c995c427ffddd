package machine

import (
	"log/slog"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxCrashes is how many crashes a message may cause before it is quarantined.
const maxCrashes = 2

// CrashOn returns the fact that a message crashed the chat. It returns false if the crash cannot be attributed to the
// message or to the run in progress.
func (c *Chat) CrashOn(msg any) (fact journal.Crashed, known bool) {
	if run := c.State.Run; run != nil {
		fact.RunID = run.ID
	}
	switch msg := msg.(type) {
	case messages.AcceptIngress:
		if !c.State.Known(msg.IngressID) {
			fact = journal.Crashed{IngressID: msg.IngressID}
		}
	case messages.ViewQuery, messages.WatchChat, messages.UnwatchChat, messages.OutboxQuery:
		return fact, false
	}
	return fact, fact != (journal.Crashed{})
}

// park quarantines an ingress that has crashed the chat repeatedly.
func (c *Chat) park(msg messages.AcceptIngress, turn journal.Turn) {
	c.Log(slog.LevelError, "a message is quarantined because the chat panicked over it", "request_id", msg.RequestID, "ingress_id", msg.IngressID)
	if msg.Verdict != messages.VerdictOpen {
		c.Settle(msg, turn, journal.FateDeclined, journal.ReasonQuarantined, "")
		return
	}
	in := c.IngressOf(msg, turn)
	turn.Metadata = turn.Meta.Append(nil)
	fact := journal.TurnQuarantined{Turn: turn.Message, Ingress: &in, Rows: c.HostRow(msg, turn, c.Text(notices.Failure(journal.ReasonQuarantined, ""), turn))}
	c.Offer(fact)
	c.Answer(messages.IngressAccepted{ChatKey: c.Key, RequestID: msg.RequestID, Declined: journal.ReasonQuarantined})
	c.DeliverRows(fact.Rows)
	c.SettledFrame(turn.ID)
}

// giveUp ends a run that has crashed the chat repeatedly, and quarantines its turns. Of its message only the names of
// calls that had begun are kept, because any other part may be the cause of the crashes.
func (c *Chat) giveUp(run *journal.Run) {
	c.Log(slog.LevelError, "a run is abandoned because the chat panicked over it", "run_id", run.ID, "request_id", run.RequestID)
	var begun []uimessage.Part
	for _, p := range run.Parts {
		if t, ok := p.(uimessage.Tool); ok && run.Begun[t.ToolCallID] {
			begun = append(begun, parts.Interrupted(uimessage.Tool{ToolCallID: t.ToolCallID, Name: t.Name, Input: []byte(`{}`)}))
		}
	}
	bare := *run
	bare.Parts, bare.Base = begun, 0
	c.setRun(&bare, "")
	if run.Stop != nil {
		c.finish(journal.ResultStopped, "stopped")
		return
	}
	var facts []journal.Fact
	for _, v := range run.Visible {
		if t, ok := c.State.Turn(v.TurnID); ok {
			facts = append(facts, journal.TurnQuarantined{Turn: t.Message})
		}
	}
	c.Append(facts...)
	c.PrefixBroken("parked") // the model may have read turns that are no longer shown to it
	c.finish(journal.ResultFailed, journal.ReasonQuarantined)
}
