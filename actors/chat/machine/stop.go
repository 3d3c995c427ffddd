package machine

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// stopRun handles stop commands from the web, the CLI and the API.
func (c *Chat) stopRun(msg messages.StopRun) {
	was := c.stop("stopped by "+msg.By, msg.RequestID, msg.All)
	c.Answer(messages.RunStopped{ChatKey: c.Key, Was: was})
}

// stopCommand handles a person's command to stop.
func (c *Chat) stopCommand(msg messages.AcceptIngress, turn journal.Turn) {
	notice := notices.NothingToStop()
	if c.stop("stopped by "+turn.Meta.UserID, msg.RequestID, stopsAll(msg.Args)) {
		notice = notices.Stopped()
	}
	turn.Meta.Seq = c.State.Seq + 1
	c.Settle(msg, turn, journal.FateAnswered, "stop", c.Text(notice, turn))
}

// stopsAll reports whether the arguments of /stop also drop the messages that wait.
func stopsAll(args string) bool {
	return slices.Contains([]string{"all", "全部", "所有"}, strings.TrimRight(args, ".!。！"))
}

// stop handles a command to stop and reports whether there was anything to stop. Without a run there may still be
// queued turns, for example turns that wait for their files.
func (c *Chat) stop(by, requestID string, all bool) bool {
	switch {
	case c.run != nil:
		c.stopWith(by, requestID, all)
	case all && c.State.OpenTurns() > 0:
		c.stopOpen(requestID)
	default:
		return false
	}
	return true
}

// stopWith durably stops the run in progress, and on request settles the turns that wait for the next one.
func (c *Chat) stopWith(by, requestID string, all bool) {
	run := c.State.Run
	c.Append(journal.StopRequested{RunID: run.ID, By: by, RequestID: requestID})
	c.Audit(decision.AuditEntry{Event: "stop", RequestID: requestID, RunID: run.ID})
	if all && len(c.State.Lane) > 0 {
		var fates []journal.Settled
		for _, t := range c.State.Lane {
			fates = append(fates, journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: reasonStopAll})
		}
		c.Append(journal.TurnsSettled{Fates: fates})
		c.dropped(fates)
	}
	c.finish(journal.ResultStopped, "stopped")
}

// reasonStopAll is the reason of queued turns that ended because a person stopped all.
const reasonStopAll = "stop all"

// emptyMessage returns the empty message of a run that ended before it began.
func (c *Chat) emptyMessage(reason string, fates ...journal.Settled) uimessage.Message {
	meta := c.PlainMeta()
	meta.Result, meta.Reason = string(journal.ResultStopped), reason
	for _, f := range fates {
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: f.TurnID, Fate: f.Fate, Reason: f.Reason})
	}
	return uimessage.Message{ID: "a:" + string(c.Key) + ":" + c.NewID(), Role: uimessage.RoleAssistant, Metadata: meta.Append(nil)}
}

// stopOpen settles the open turns while no run is in progress. They are already in the history and stay there,
// answered by an empty message.
func (c *Chat) stopOpen(requestID string) {
	fact := journal.RunFinished{RunID: "r_" + c.NewID(), Result: journal.ResultStopped, Reason: reasonStopAll}
	for _, t := range c.State.Open() {
		fact.Fates = append(fact.Fates, journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: reasonStopAll})
	}
	fact.Message = c.emptyMessage(reasonStopAll, fact.Fates...)
	c.Append(fact)
	c.Audit(decision.AuditEntry{Event: "stop", RequestID: requestID, RunID: fact.RunID})
	c.dropped(fact.Fates)
}

// dropped cleans up after queued turns that ended without a run.
func (c *Chat) dropped(fates []journal.Settled) {
	for _, f := range fates {
		c.files.Unfetch(f.TurnID)
		c.SettledFrame(f.TurnID)
	}
}
