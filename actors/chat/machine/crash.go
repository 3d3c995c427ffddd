package machine

import (
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxStumbles is how many crashes a message may cause before it is quarantined.
const maxStumbles = 2

// Stumble returns the fact that a message crashed the chat. It returns false if the crash cannot be attributed to the
// message or to the run in progress.
func (c *Chat) Stumble(msg any) (fact journal.Stumbled, known bool) {
	if run := c.state.Run; run != nil {
		fact.RunID = run.ID
	}
	switch msg := msg.(type) {
	case messages.AcceptIngress:
		if !c.state.Known(msg.IngressID) {
			fact = journal.Stumbled{IngressID: msg.IngressID}
		}
	case messages.ViewQuery, messages.WatchChat, messages.UnwatchChat, messages.OutboxQuery:
		return fact, false
	}
	return fact, fact != (journal.Stumbled{})
}

// park quarantines an ingress that has crashed the chat repeatedly.
func (c *Chat) park(msg messages.AcceptIngress, turn journal.Turn) {
	c.log(slog.LevelError, "a message is put aside: the chat panicked over it", "request_id", msg.RequestID, "ingress_id", msg.IngressID)
	if msg.Verdict != messages.VerdictOpen {
		c.settleAtOnce(msg, turn, journal.FateDeclined, journal.ReasonParked, "")
		return
	}
	in := c.ingressOf(msg, turn)
	turn.Metadata = turn.Meta.Append(nil)
	fact := journal.TurnParked{Turn: turn.Message, Ingress: &in, Rows: c.hostRow(msg, turn, c.text(notices.Failure(journal.ReasonParked), turn))}
	c.offer(fact)
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Declined: journal.ReasonParked})
	c.deliverRows(fact.Rows)
	c.settledFrame(turn.ID)
}

// giveUp ends a run that has crashed the chat repeatedly, and quarantines its turns. Of its message only the names of
// calls that had begun are kept, because any other part may be the cause of the crashes.
func (c *Chat) giveUp(run *journal.Run) {
	c.log(slog.LevelError, "a run is given up: the chat panicked over it", "run_id", run.ID, "request_id", run.RequestID)
	var parts []uimessage.Part
	for _, p := range run.Parts {
		if t, ok := p.(uimessage.Tool); ok && run.Begun[t.ToolCallID] {
			parts = append(parts, interrupted(uimessage.Tool{ToolCallID: t.ToolCallID, Name: t.Name, Input: []byte(`{}`)}))
		}
	}
	bare := *run
	bare.Parts, bare.Base = parts, 0
	c.run = newRunner(&bare, "", c.now())
	if run.Stop != nil {
		c.finish(journal.ResultStopped, "stopped")
		return
	}
	var facts []journal.Fact
	for _, v := range run.Visible {
		if t, ok := c.state.Turn(v.TurnID); ok {
			facts = append(facts, journal.TurnParked{Turn: t.Message})
		}
	}
	c.append(facts...)
	c.prefixBroken("parked") // the model may have read turns that are no longer shown to it
	c.finish(journal.ResultFailed, journal.ReasonParked)
}

// aside reports whether a turn of the run was quarantined.
func (c *Chat) aside(turnID string) bool {
	return slices.ContainsFunc(c.state.Parked, func(p journal.Parked) bool { return p.Turn.ID == turnID })
}
