package machine

import (
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// freshFor is how recently an unfinished run must have been active to be resumed.
	freshFor = 10 * time.Minute
	// maxAttempts is how often a run may be started before it fails.
	maxAttempts = 3
)

// recover continues the work of the last activation: rows, a run, requests. Rows come first because they are older
// than those of the run's end.
func (c *Chat) recover() {
	for _, row := range c.State.Pending() {
		c.Deliver(row)
	}
	for _, row := range c.State.Outbox {
		c.onAskDue(askDue{row.Key}) // the timers of the last activation have ended
	}
	if c.State.Run != nil {
		c.resume()
	}
	c.requests.ArmExpiry()
	c.requests.Expire()
}

// resume decides whether a run that a crash interrupted continues or ends.
func (c *Chat) resume() {
	run := c.State.Run
	c.Log(slog.LevelInfo, "a run was interrupted", "run_id", run.ID, "request_id", run.RequestID, "attempt", run.Attempt, "step", run.Step)
	if c.State.RunCrashes(run.ID) < maxCrashes {
		c.setRun(run, "")
	}
	age := c.Ago(time.UnixMilli(run.Last))
	switch {
	case c.State.RunCrashes(run.ID) >= maxCrashes:
		c.giveUp(run)
	case run.Stop != nil:
		c.finish(journal.ResultStopped, "stopped")
	case age > freshFor || age < -freshFor:
		c.finish(journal.ResultInterrupted, "too_old")
	case run.Attempt >= maxAttempts:
		c.finish(journal.ResultFailed, "recovery")
	default:
		c.goOnAfterCrash(run)
	}
}

// goOnAfterCrash settles calls with an unknown outcome and restarts the run after its last complete step.
func (c *Chat) goOnAfterCrash(run *journal.Run) {
	var facts []journal.Fact
	for _, p := range run.Parts {
		t, ok := p.(uimessage.Tool)
		if ok && !t.State.Settled() && t.Approval == nil && run.Begun[t.ToolCallID] {
			facts = append(facts, journal.ToolFinished{RunID: run.ID, MessageID: run.MessageID, Part: parts.Interrupted(t)})
			c.requests.TellInterrupted(t, journal.Request{})
		}
	}
	turn, _ := c.State.Turn(run.MessageID)
	turn.ID, turn.Role, turn.Parts = run.MessageID, uimessage.RoleAssistant, run.Parts
	facts = append(facts, c.requests.SettleAnswered(turn, run.ID, run.Begun)...)
	c.Append(facts...)
	pending := len(parts.Unbegun(run)) > 0 || turn.Answered() || parts.Asking(run.Parts)
	c.setRun(run, "") // rebuilt with the outcomes
	switch {
	case run.Final && !pending:
		c.finish(journal.ResultDone, "")
		return
	case run.Switch.Kind != "" && !pending && len(c.State.Due()) == 0:
		c.finish(journal.ResultSwitching, "")
		return
	}
	c.Note(journal.RunStarted{RunID: run.ID, MessageID: run.MessageID, RequestID: run.RequestID, Attempt: run.Attempt + 1})
	if run.Step > 0 && !pending && len(c.files.Ready()) > 0 && c.Mode != decision.ModeFollowup {
		c.merge(run.Step+1, nil)
	}
	c.setRun(nil, "") // nextRun starts it
}
