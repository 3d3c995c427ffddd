package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/requests"
	"github.com/shipmyagent/shipmyagent/actors/chat/runentry"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// finish ends the run. The assistant message, the fates of its turns and its outbox rows become durable in one fact.
func (c *Chat) finish(result journal.Result, reason string) {
	run := c.State.Run
	m := c.run.reducer.Snapshot()
	m.ID, m.Role = run.MessageID, uimessage.RoleAssistant
	m.Parts = parts.Close(m.Parts, result, max(c.run.kept, len(run.Parts)))
	fates := c.fates(result, reason)
	base, _ := c.State.Turn(m.ID)
	notice := c.notice(result, reason, c.own(m))
	meta := c.assistantMeta(string(result), reason, fates)
	if !c.Via.Outbox { // with an outbox the notice is a row
		meta = meta.WithNotice(notice)
	}
	turn := c.closeTurn(m, c.orderSwitch(meta), result)
	m = turn.Message
	asked := requests.Opened(base, turn)
	fact := journal.RunFinished{RunID: run.ID, Message: m, Result: result, Reason: reason, Fates: fates}
	fact.Rows = c.lastRows(c.own(m), result, notice, asked)
	before := len(c.State.History)
	c.Append(append([]journal.Fact{fact}, c.requests.Refer(asked)...)...)
	c.requests.TellAsked(asked)
	c.requests.TellUnknown(m.Parts)
	c.Count(decision.CountRunFinished, string(result))
	c.Measure(decision.CountRunSeconds, c.Ago(c.run.began).Seconds())
	c.Measure(decision.CountRunSteps, float64(c.run.steps))
	c.Audit(decision.AuditEntry{Event: "run", RequestID: run.RequestID, RunID: run.ID, Result: string(result), Reason: reason, Step: run.Step})
	if c.RecordsRuns {
		c.Effect(decision.RunEnded{Entry: runentry.Of(c.State.History, run, result, reason, c.Now())})
	}
	if result == journal.ResultSwitching {
		c.handOver(m.ID, fates)
	} else {
		c.EventFrame("done", run.Step, "")
	}
	if notice != "" && !c.Via.Outbox {
		said := []uistream.Chunk{uistream.Error{ErrorText: notice}}
		if result == journal.ResultDone { // the answer is only incomplete
			said = uistream.Notice(notice)
		}
		c.ChunkFrame(m.ID, said)
	}
	if result != journal.ResultSwitching {
		settled := c.takeMoved(fates)
		c.EndFrame(m.ID, string(result), settled, true)
		c.showSaid(before)
		c.Unmark(settled)
	}
	c.DeliverRows(fact.Rows)
	c.dropRun()
	c.ended = true
}

// maxUncheckpointed is how many records the journal of a busy chat may reach before it is checkpointed.
const maxUncheckpointed = 256

// fates returns how the run's turns ended.
func (c *Chat) fates(result journal.Result, reason string) []journal.Settled {
	var fates []journal.Settled
	for _, v := range c.State.Run.Visible {
		f := journal.Settled{TurnID: v.TurnID, Fate: journal.FateAnswered, RunID: c.State.Run.ID, Reason: reason}
		switch {
		case c.aside(v.TurnID):
			f.Fate, f.Reason = journal.FateDeclined, journal.ReasonQuarantined
		case result == journal.ResultStopped:
			f.Fate = journal.FateStopped
		case v.Step > 1:
			f.Fate, f.Step = journal.FateMerged, v.Step
		}
		fates = append(fates, f)
	}
	return fates
}

func (c *Chat) assistantMeta(result, reason string, fates []journal.Settled) uimessage.Metadata {
	run, meta := c.State.Run, c.PlainMeta()
	meta.RequestID, meta.RunID, meta.Result, meta.Reason = run.RequestID, run.ID, result, reason
	meta.Model = c.run.model.Label // people may have chosen another one since
	for _, f := range fates {
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: f.TurnID, Fate: f.Fate, RunID: f.RunID, Step: int64(f.Step), Reason: f.Reason})
	}
	if result != "" && c.run.usage.TotalTokens > 0 {
		u := c.run.usage
		meta.Usage = &u
	}
	return meta
}

// lastRows returns the outbox rows at the end of a run; the last row asks for approvals. Requests never complete a
// draft that people already see, because an edited message keeps its old position among the messages sent since.
func (c *Chat) lastRows(m uimessage.Message, result journal.Result, notice string, asked []journal.Asked) []journal.Row {
	words, asks := c.lastWords(m, result), c.requests.Words(asked)
	if asks == "" || !c.drafted() {
		rows := c.rowsOf(m, words, notice+asks)
		c.requests.WithAsks(rows, asked)
		return rows
	}
	rows, run := c.rowsOf(m, words, notice), c.State.Run
	rows = append(rows, journal.Row{
		Key: journal.RowKey{MessageID: run.MessageID, N: c.nextRow() + 1}, RunID: run.ID, RequestID: run.RequestID, Text: asks, ReplyTo: c.replyAnchor(),
	})
	c.requests.WithAsks(rows, asked)
	return rows
}

// aside reports whether a turn of the run was quarantined.
func (c *Chat) aside(turnID string) bool {
	return slices.ContainsFunc(c.State.Quarantine, func(p journal.Quarantined) bool { return p.Turn.ID == turnID })
}
