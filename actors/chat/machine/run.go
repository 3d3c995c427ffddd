package machine

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/requests"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// whatFollows decides what to do next when no input is waiting. It is called until it plans nothing more, so that handlers
// need not know what happens next. A chat has at most one run, because a run is asked for only if the state has none.
func (c *Chat) whatFollows() {
	c.requests.SendReferrals()
	if c.lookedAt != c.State.N {
		c.lookedAt = c.State.N
		c.requests.ArmExpiry()
	}
	switch {
	case c.State.Run == nil:
		c.nextRun()
	case c.run == nil:
		c.spawnRun()
	default:
		c.files.FetchAll()
	}
	if c.grew {
		c.grew = false
		c.compactIfLong()
	}
	c.memory.Remember(c.compaction.running(), c.compactTurns)
	if bytes, changed := c.size.Weigh(c.State.History); changed {
		c.Effect(decision.Report{Msg: messages.ChatSized{ChatKey: c.Key, Bytes: bytes}})
	}
	c.rests = c.Plan.Empty()
}

// nextRun starts a run if there is work: decided calls first, then open turns. A chat with either of them is never
// idle.
func (c *Chat) nextRun() {
	if c.ended {
		c.ended, c.grew = false, true
		if c.State.OpenTurns() > 0 || c.State.Uncheckpointed() > maxUncheckpointed {
			c.Checkpoint()
		}
	}
	c.requests.CapOpen()
	if c.switchDue() || c.applyCompaction() {
		return
	}
	open, due := c.State.OpenTurns() > 0, c.State.Due()
	turn, continues := c.State.Continues()
	switch {
	case c.Closing:
		c.rest()
		c.drained()
	case c.files.FetchAll(): // continues when the files have arrived
	case (open || continues || turn.Continues() || len(due) > 0) && c.paused():
		c.rest()
	case continues || turn.Continues():
		c.continueRun(turn)
	case len(due) > 0:
		c.beginOutcome(due)
	case open && !c.holding.IsZero(): // wait for more messages
		c.rest()
	case open:
		c.startRun()
	default:
		c.rest()
	}
}

// paused reports whether an operator has paused the chat.
func (c *Chat) paused() bool { return c.Paused != nil && c.Paused(c.Key) }

// startRun starts a run for the open turns.
func (c *Chat) startRun() {
	open := c.State.Open()
	fact := journal.RunStarted{
		RunID: "r_" + c.NewID(), MessageID: "a:" + string(c.Key) + ":" + c.NewID(), RequestID: open[len(open)-1].Meta.RequestID, Attempt: 1,
	}
	c.Note(fact)
}

// spawnRun starts the actor of the run and gives it its first input. The run is durable before that, so that a chat
// that panics here repeatedly can give the run up.
func (c *Chat) spawnRun() {
	c.grew = true
	run := c.State.Run
	resume := parts.Unbegun(run)
	c.setRun(run, "run-"+c.NewID())
	c.first, c.since = firstWord{run.ID, c.since}, time.Time{}
	if c.first.since.IsZero() {
		c.first.since = c.run.began
	}
	c.Count(decision.CountRunStarted, "")
	c.Audit(decision.AuditEntry{Event: "run", RequestID: run.RequestID, RunID: run.ID, Result: "started"})
	c.startFrame(c.visible())
	step := run.Step + 1
	if len(resume) > 0 {
		step = run.Step // the step still needs outcomes
	}
	system, only := c.system.Begin()
	offered, later := c.Tools(c.Key, c.Via.ToolEgress)
	first := messages.StartRun{
		ChatKey: c.Key, RunID: run.ID, RequestID: run.RequestID, Asker: c.Asker(), Payer: c.payer(), Group: c.Group(), System: system, Model: c.run.model.Name, Effort: c.run.effort, Only: only,
		Tools: c.system.Offers(offered), Later: later, Continue: c.run.before, Resume: resume, Input: c.input(step),
		Hold: parts.Asking(c.run.before.Parts), Approved: c.requests.ApprovedCalls(), Grants: c.requests.LiveGrants(), Waiting: c.requests.OpenForRun(), NextRequest: c.State.NextRequest(), Trim: c.trim,
		MayShorten: c.Compacts,
	}
	c.requests.TellApproved(run.Parts)
	c.Effect(decision.Start{Child: decision.RunChild, Name: c.RunChild, Msg: first})
	if c.Via.Typing || c.Via.Drafts {
		c.tick(tickFirst)
	}
}

// payer is on whose account the run in progress is: who wrote the first message that it answers. Messages that join
// later, those of other people too, are answered on the same account. A run that continues an older message has none of
// its own, and is paid for by who wrote last.
func (c *Chat) payer() string {
	by := c.Asker()
	if answers := c.State.Run.Visible; len(answers) > 0 {
		if turn, ok := c.State.Turn(answers[0].TurnID); ok {
			by = decision.AskerOf(turn)
		}
	}
	return messages.PersonKey(by.Platform, by.ID)
}

// fromRun handles messages of the run in progress. Messages of an earlier run, or of an earlier actor of the same run,
// are ignored.
func (c *Chat) fromRun(msg messages.ToChat) {
	if c.In.Child == "" || c.In.Child != c.RunChild {
		return
	}
	switch msg := msg.(type) {
	case messages.StepRestarted:
		c.trim = msg.Trim
		c.callFailed(msg.Took, msg.Reason)
		c.run.restart()
		c.replayFrame()
	case messages.StepDone:
		c.stepDone(msg)
	case messages.ToolDone:
		c.toolDone(msg)
	case messages.StepEnded:
		c.stepEnded(msg)
	case messages.RunFailed:
		c.runFailed(msg)
	case messages.ShortenInput:
		c.shorten(msg)
	default: // no other messages come from runs
	}
}

// runTerminated fails a run whose actor panicked.
func (c *Chat) runTerminated(child string) {
	if child == c.RunChild {
		c.runFailed(messages.RunFailed{RunID: c.RunID, Reason: "internal", Err: "the run panicked"})
	}
}

// Progress applies chunks of the answer in progress and shows them to watchers. It is the only change of a session
// without a plan, because an answer arrives in very many chunks and none of them requires a decision.
func (c *Chat) Progress(in decision.Input, chunks []uistream.Chunk) []decision.Effect {
	c.Begin(in)
	for _, chunk := range chunks {
		if _, err := c.run.reducer.Apply(chunk); err != nil {
			c.Log(slog.LevelError, "a chunk does not fit the message", "run_id", c.RunID, "request_id", c.State.Run.RequestID, "error", err)
			break
		}
	}
	if !c.Via.Outbox && c.inProgress() != "" {
		c.firstEgress(c.RunID)
	}
	c.ChunkFrame(c.State.Run.MessageID, chunks)
	return c.End().Effects
}

// stepDone journals a response before any of its calls may begin.
func (c *Chat) stepDone(msg messages.StepDone) {
	c.run.usage = plus(c.run.usage, msg.Usage)
	c.Audit(decision.AuditEntry{
		Event: decision.AuditModel, RequestID: c.State.Run.RequestID, RunID: c.RunID, Name: cmp.Or(msg.Model, c.run.model.Label), Result: msg.Finish, Step: msg.Step,
		Took: msg.Took, InputTokens: msg.Usage.InputTokens, CachedTokens: msg.Usage.CachedInputTokens, OutputTokens: msg.Usage.OutputTokens,
	})
	c.trim = msg.Trim
	if msg.Limit != "" {
		c.cheaper = notices.Cheaper(msg.Limit, msg.Cheaper, notices.Until(msg.Limit, c.Now().In(c.Location)))
	}
	c.compaction.size.Report(msg.Usage, len(c.State.History), c.trim)
	c.run.steps++
	c.run.shown = requests.ShownOf(msg.Asked)
	if msg.Ends != "" {
		c.endRun(msg.Ends, msg.Reason)
		return
	}
	m := c.run.reducer.Snapshot()
	from := min(c.run.kept, len(m.Parts))
	facts := []journal.Fact{journal.StepResponded{
		RunID: c.RunID, MessageID: m.ID, Step: msg.Step, From: from, Parts: m.Parts[from:], Tokens: msg.Usage.TotalTokens,
		Shown: c.run.shown,
	}}
	for _, call := range msg.Calls {
		if !call.Repeatable {
			facts = append(facts, journal.ToolStarted{RunID: c.RunID, CallID: call.CallID})
		}
	}
	c.Append(facts...)
	c.run.kept = len(m.Parts)
	c.EventFrame("assistant", msg.Step, "")
	if len(msg.Calls) > 0 {
		c.requests.TellRuled(msg.Calls, m)
		c.Tell(messages.ExecuteCalls{RunID: c.RunID, LaneEmpty: len(c.State.Lane) == 0})
		return
	}
	c.boundary(msg.Step)
}

// toolDone journals the outcome of a call.
func (c *Chat) toolDone(msg messages.ToolDone) {
	if msg.Preliminary {
		return
	}
	part, ok := parts.Call(c.run.reducer.Message(), msg.CallID)
	if !ok {
		return
	}
	fact := journal.ToolFinished{RunID: c.RunID, MessageID: c.State.Run.MessageID, Part: part, Final: msg.Final, Switch: msg.Switch, Skill: msg.Skill}
	c.Facts(msg.Durable || msg.Skill.Name != "", []journal.Fact{fact})
	result := "ok"
	if msg.Failed {
		result = "error"
	}
	c.Audit(decision.AuditEntry{Event: decision.AuditTool, RequestID: c.State.Run.RequestID, RunID: c.RunID, Name: part.Name, Call: msg.CallID, Result: result, Took: msg.Took})
	c.requests.TellEnded(msg.CallID, result)
	c.EventFrame("tool_summary", c.State.Run.Step, msg.Summary)
}

func (c *Chat) stepEnded(msg messages.StepEnded) {
	c.EventFrame("step_finish", msg.Step, "")
	if msg.Ends != "" {
		c.endRun(msg.Ends, msg.Reason)
		return
	}
	if c.State.Run.Switch.Kind != "" && len(c.State.Due()) == 0 {
		c.finish(journal.ResultSwitching, "")
		return
	}
	c.boundary(msg.Step)
}

// endRun ends the run in the way its last step reports.
func (c *Chat) endRun(ends, reason string) {
	switch ends {
	case "waiting":
		c.finish(journal.ResultWaiting, reason)
	case "failed", "limit":
		c.finish(journal.ResultFailed, reason)
	default:
		c.finish(journal.ResultDone, reason)
	}
}

// callFailed adds a model call without a usable answer to the audit log. A duration of 0 says that there was no call.
func (c *Chat) callFailed(took time.Duration, reason string) {
	if took > 0 {
		c.Audit(decision.AuditEntry{
			Event: decision.AuditModel, RequestID: c.State.Run.RequestID, RunID: c.RunID, Name: c.run.model.Label, Result: "error", Reason: reason,
			Step: c.State.Run.Step + 1, Took: took,
		})
	}
}

func (c *Chat) runFailed(msg messages.RunFailed) {
	c.Log(slog.LevelError, "a run failed", "run_id", msg.RunID, "request_id", c.State.Run.RequestID, "reason", msg.Reason, "error", msg.Err)
	c.callFailed(msg.Took, msg.Reason)
	if len(c.run.reducer.Message().Parts) > len(c.run.before.Parts) {
		c.run.restart() // a failed step is not part of the answer
		c.replayFrame()
	}
	c.finish(journal.ResultFailed, msg.Reason)
}

// boundary admits queued turns and late decisions between two steps, and starts the next step.
func (c *Chat) boundary(step int) {
	next := messages.ContinueRun{RunID: c.RunID}
	due := c.State.Due()
	if len(c.files.Ready()) > 0 && c.Mode != decision.ModeFollowup || len(due) > 0 {
		next.MessageID = c.merge(step+1, due)
		next.Approved = c.requests.ApprovedCalls()
		c.requests.TellApproved(c.State.Run.Parts)
	} else {
		c.run.before = c.run.reducer.Snapshot()
	}
	next.Asker, next.Input, next.Grants = c.Asker(), c.input(step+1), c.requests.LiveGrants()
	next.System, next.Only = c.system.Reloaded()
	c.Tell(next)
}

// merge closes the assistant message, makes the queued turns visible and carries out late decisions. It returns the id
// of the next message.
func (c *Chat) merge(step int, due []journal.Asked) (messageID string) {
	closed := c.closed()
	fact := journal.TurnsMerged{
		RunID: c.RunID, Step: step, Closed: closed, MessageID: "a:" + string(c.Key) + ":" + c.NewID(), Rows: c.rowsOf(c.own(closed), c.wordsBefore(c.own(closed)), ""),
	}
	if c.Mode != decision.ModeFollowup {
		for _, t := range c.files.Ready() {
			fact.Turns = append(fact.Turns, t.ID)
		}
	}
	facts := []journal.Fact{fact}
	if len(due) > 0 {
		out := c.requests.Copies(due)
		fact.MessageID = out.Message.ID
		facts = append([]journal.Fact{fact, out}, c.requests.SettleAnswered(journal.NewTurn(out.Message), c.RunID, nil)...)
	}
	c.Append(facts...)
	c.since = time.Time{}
	c.Measure(decision.CountMerged, float64(len(fact.Turns)))
	c.markMerged(fact.Turns)
	c.DeliverRows(fact.Rows)
	moved := c.takeMoved(nil)
	c.EndFrame(closed.ID, "", moved, false)
	c.Unmark(moved)
	c.run.renew(fact.MessageID, c.State.Run.Parts)
	c.EventFrame("merge", step, "")
	c.startFrame(fact.Turns)
	c.grew = true
	return fact.MessageID
}

// closed returns the message in progress in its final form for a merge. A message that an earlier run began gets a
// result, because everything it waited for has been decided.
func (c *Chat) closed() uimessage.Message {
	m := c.run.reducer.Snapshot()
	m.ID, m.Role = c.State.Run.MessageID, uimessage.RoleAssistant
	result := ""
	if base, ok := c.State.Turn(m.ID); ok && base.Meta.Result != "" {
		result = string(journal.ResultDone)
	}
	return c.closeTurn(m, c.assistantMeta(result, "", nil), journal.ResultDone).Message
}
