package machine

import (
	"log/slog"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// runner is the state of the run in progress that is not journaled.
type runner struct {
	id       string
	child    string // name of its actor; empty while the run is only being settled
	reducer  *uistream.Reducer
	before   uimessage.Message // the message at the beginning of the step
	kept     int               // number of parts that are journaled
	began    time.Time
	usage    uimessage.Usage
	steps    int             // model calls that returned a response
	shown    []journal.Shown // calls that ask, in a step that is not journaled yet
	draft    string
	lastSent map[string]bool // texts sent since the last turn became visible
	// facts and docs are the parts of the run's system text, and pinned are the skills in it.
	facts  prompt.Facts
	docs   prompt.Documents
	pinned []string
}

// runTick is the timer message for typing indicators and drafts.
type runTick struct{ runID string }

const (
	tickFirst = 1200 * time.Millisecond
	tickEvery = 1200 * time.Millisecond
)

func newRunner(run *journal.Run, child string, now time.Time) *runner {
	r := &runner{id: run.ID, child: child, began: now}
	r.renew(run.MessageID, run.Parts)
	return r
}

// settledParts counts the leading parts that can no longer change.
func settledParts(parts []uimessage.Part) int {
	for i, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && !t.State.Settled() {
			return i
		}
	}
	return len(parts)
}

// restart discards what arrived since the step began.
func (r *runner) restart() {
	if len(r.before.Parts) == 0 {
		r.reducer = uistream.NewWriter(nil, r.before.ID)
		return
	}
	before := r.before
	r.reducer = uistream.NewWriter(&before, before.ID)
}

// renew starts another message, which may already have parts.
func (r *runner) renew(messageID string, parts []uimessage.Part) {
	r.before = uimessage.Message{ID: messageID, Role: uimessage.RoleAssistant, Parts: parts}
	r.kept, r.draft, r.lastSent = settledParts(parts), "", nil
	r.restart()
}

// whatFollows decides what to do next when no input is waiting. It is called until it plans nothing more, so that handlers
// need not know what comes next.
func (c *Chat) whatFollows() {
	c.sendReferrals()
	if c.lookedAt != c.state.N {
		c.lookedAt = c.state.N
		c.armExpiry()
	}
	switch {
	case c.state.Run == nil:
		c.nextRun()
	case c.run == nil:
		c.spawnRun()
	default:
		c.fetchAll()
	}
	if c.grew {
		c.grew = false
		c.compactIfLong()
	}
	c.remember()
	if bytes, changed := c.size.Weigh(c.state.History); changed {
		c.effect(Report{messages.ChatSized{ChatKey: c.key, Bytes: bytes}})
	}
	c.rests = c.p.empty()
}

// nextRun starts a run if there is work: decided calls first, then open turns. A chat with either of them is never
// idle.
func (c *Chat) nextRun() {
	if c.ended {
		c.ended, c.grew = false, true
		if c.state.OpenTurns() > 0 || c.state.Unfolded() > maxUnfolded {
			c.checkpoint()
		}
	}
	c.capOpen()
	if c.obeySwitch() || c.applyCompaction() {
		return
	}
	open, due := c.state.Open(), c.state.Due()
	turn, continues := c.state.Continues()
	switch {
	case c.closing:
		c.rest()
		c.drained()
	case c.fetchAll(): // continues when the files have arrived
	case continues || turn.GoesOn():
		c.continueRun(turn)
	case len(due) > 0:
		c.beginOutcome(due)
	case len(open) > 0 && !c.holding.IsZero(): // wait for more messages
		c.rest()
	case len(open) > 0:
		c.startRun(open)
	default:
		c.rest()
	}
}

func (c *Chat) startRun(open []journal.Turn) {
	requestID := open[len(open)-1].Meta.RequestID
	fact := journal.RunStarted{
		RunID: "r_" + c.newID(), MessageID: "a:" + string(c.key) + ":" + c.newID(), RequestID: requestID, Attempt: 1,
	}
	c.note(fact)
}

// spawnRun starts the actor of the run and gives it its first input. The run is durable before that, so that a chat
// that panics here repeatedly can give the run up.
func (c *Chat) spawnRun() {
	c.grew = true
	run := c.state.Run
	resume := unbegun(run)
	c.run = newRunner(run, "run-"+c.newID(), c.now())
	c.first, c.since = firstWord{run.ID, c.since}, time.Time{}
	if c.first.since.IsZero() {
		c.first.since = c.run.began
	}
	c.count(CountRunStarted, "")
	c.audit(AuditEntry{Event: "run", RequestID: run.RequestID, RunID: run.ID, Result: "started"})
	c.startFrame(c.visible())
	step := run.Step + 1
	if len(resume) > 0 {
		step = run.Step // the step still needs outcomes
	}
	facts, docs, only := c.documents()
	c.run.facts, c.run.docs, c.run.pinned = facts, docs, c.state.Pinned
	c.lastSystem = prompt.System(facts, docs)
	first := messages.StartRun{
		ChatKey: c.key, RunID: run.ID, RequestID: run.RequestID, Asker: c.asker(), Group: c.group(), System: c.lastSystem, Only: only,
		Tools: c.Tools(c.key, c.via.ToolEgress), Continue: c.run.before, Resume: resume, Input: c.input(step),
		Hold: asking(c.run.before.Parts), Approved: c.approvedCalls(), Grants: c.live(), Waiting: c.openRequests(), NextRequest: c.state.NextRequest(), Trim: c.trim,
		MayShorten: c.Compacts,
	}
	c.tellApproved(run.Parts)
	c.effect(Start{RunChild, c.run.child, first})
	if c.via.Typing || c.via.Drafts {
		c.tick(tickFirst)
	}
}

// unbegun returns the calls that a run had not begun when the process ended, without those that wait for a person.
func unbegun(run *journal.Run) []string {
	var ids []string
	for _, p := range run.Parts {
		if t, ok := p.(uimessage.Tool); ok && !t.State.Settled() && t.Approval == nil && !run.Begun[t.ToolCallID] {
			ids = append(ids, t.ToolCallID)
		}
	}
	return ids
}

// asking reports whether one of the parts waits for a person.
func asking(parts []uimessage.Part) bool {
	return slices.ContainsFunc(parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolApprovalRequested
	})
}

// dropRun stops the run's actor without settling anything.
func (c *Chat) dropRun() {
	if c.run != nil && c.run.child != "" {
		c.effect(Stop{c.run.child})
		c.count(CountRunGone, "")
	}
	c.run = nil
}

// visible returns the ids of the turns that the run's message answers.
func (c *Chat) visible() []string {
	var ids []string
	for _, v := range c.state.Run.Visible {
		ids = append(ids, v.TurnID)
	}
	return ids
}

// asker returns the sender of the newest user turn in the history.
func (c *Chat) asker() messages.Asker { return askerOf(newest(c.state.History)) }

// fromRun handles messages of the run in progress. Messages of an earlier run, or of an earlier actor of the same run,
// are ignored.
func (c *Chat) fromRun(msg messages.ToChat) {
	if c.in.Child == "" || c.in.Child != c.RunChild() {
		return
	}
	switch msg := msg.(type) {
	case messages.StepRestarted:
		c.trim = msg.Trim
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

// runGone fails a run whose actor stopped unexpectedly, because it panicked.
func (c *Chat) runGone(child string) {
	if child == c.RunChild() {
		c.runFailed(messages.RunFailed{RunID: c.run.id, Reason: "internal", Err: "the run panicked"})
	}
}

// tellRun sends a message to the run in progress.
func (c *Chat) tellRun(msg any) { c.effect(Tell{c.run.child, msg}) }

// ours reports whether a run is the one in progress.
func (c *Chat) ours(runID string) bool { return c.run != nil && c.run.id == runID }

// Progress applies chunks of the answer in progress and shows them to watchers. It is the only change of a session
// without a plan, because an answer arrives in very many chunks and none of them requires a decision.
func (c *Chat) Progress(in Input, chunks []uistream.Chunk) []Effect {
	for _, chunk := range chunks {
		if _, err := c.run.reducer.Apply(chunk); err != nil {
			c.log(slog.LevelError, "a chunk does not fit the message", "run_id", c.run.id, "error", err)
			break
		}
	}
	c.in, c.p = in, &Plan{}
	if !c.via.Outbox && c.inProgress() != "" {
		c.firstEgress(c.run.id)
	}
	c.chunkFrame(c.state.Run.MessageID, chunks)
	shown := c.p.Effects
	c.in, c.p = Input{}, nil
	return shown
}

// stepDone journals a response before any of its calls may begin.
func (c *Chat) stepDone(msg messages.StepDone) {
	c.run.usage = plus(c.run.usage, msg.Usage)
	c.trim = msg.Trim
	c.compaction.size.Report(msg.Usage, len(c.state.History), c.trim)
	c.run.steps++
	c.run.shown = shownOf(msg.Asked)
	if msg.Ends != "" {
		c.endRun(msg.Ends, msg.Reason)
		return
	}
	m := c.run.reducer.Snapshot()
	from := min(c.run.kept, len(m.Parts))
	facts := []journal.Fact{journal.StepResponded{
		RunID: c.run.id, MessageID: m.ID, Step: msg.Step, From: from, Parts: m.Parts[from:], Tokens: msg.Usage.TotalTokens,
		Shown: c.run.shown,
	}}
	for _, call := range msg.Calls {
		if !call.Repeatable {
			facts = append(facts, journal.ToolStarted{RunID: c.run.id, CallID: call.CallID})
		}
	}
	c.append(facts...)
	c.run.kept = len(m.Parts)
	c.eventFrame("assistant", msg.Step, "")
	if len(msg.Calls) > 0 {
		c.tellRuled(msg.Calls, m)
		c.tellRun(messages.ExecuteCalls{RunID: c.run.id, LaneEmpty: len(c.state.Lane) == 0})
		return
	}
	c.boundary(msg.Step)
}

// toolDone journals the outcome of a call.
func (c *Chat) toolDone(msg messages.ToolDone) {
	if msg.Preliminary {
		return
	}
	part, ok := toolPart(c.run.reducer.Message(), msg.CallID)
	if !ok {
		return
	}
	fact := journal.ToolFinished{RunID: c.run.id, MessageID: c.state.Run.MessageID, Part: part, Final: msg.Final, Switch: msg.Switch, Skill: msg.Skill}
	c.facts(msg.Forced || msg.Skill.Name != "", []journal.Fact{fact})
	result := "ok"
	if msg.Failed {
		result = "error"
	}
	c.audit(AuditEntry{Event: "tool", RequestID: c.state.Run.RequestID, RunID: c.run.id, Name: part.Name, Result: result})
	c.tellEnded(msg.CallID, result)
	c.eventFrame("tool_summary", c.state.Run.Step, msg.Summary)
}

func toolPart(m uimessage.Message, callID string) (uimessage.Tool, bool) {
	for _, p := range slices.Backward(m.Parts) {
		if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == callID {
			return t, true
		}
	}
	return uimessage.Tool{}, false
}

func (c *Chat) stepEnded(msg messages.StepEnded) {
	c.eventFrame("step_finish", msg.Step, "")
	if msg.Ends != "" {
		c.endRun(msg.Ends, msg.Reason)
		return
	}
	if c.state.Run.Switch.Kind != "" && len(c.state.Due()) == 0 {
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

func (c *Chat) runFailed(msg messages.RunFailed) {
	c.log(slog.LevelError, "a run failed", "run_id", msg.RunID, "request_id", c.state.Run.RequestID, "reason", msg.Reason, "error", msg.Err)
	if len(c.run.reducer.Message().Parts) > len(c.run.before.Parts) {
		c.run.restart() // a failed step is not part of the answer
		c.replayFrame()
	}
	c.finish(journal.ResultFailed, msg.Reason)
}

// boundary admits queued turns and late decisions between two steps, and starts the next step.
func (c *Chat) boundary(step int) {
	next := messages.ContinueRun{RunID: c.run.id}
	due := c.state.Due()
	if len(c.ready()) > 0 && c.Mode != ModeFollowup || len(due) > 0 {
		next.MessageID = c.merge(step+1, due)
		next.Approved = c.approvedCalls()
		c.tellApproved(c.state.Run.Parts)
	} else {
		c.run.before = c.run.reducer.Snapshot()
	}
	next.Asker, next.Input, next.Grants = c.asker(), c.input(step+1), c.live()
	next.System, next.Only = c.reloaded()
	c.tellRun(next)
}

// merge closes the assistant message, makes the queued turns visible and carries out late decisions. It returns the id
// of the next message.
func (c *Chat) merge(step int, due []journal.Asked) (messageID string) {
	closed := c.closed()
	fact := journal.TurnsMerged{
		RunID: c.run.id, Step: step, Closed: closed, MessageID: "a:" + string(c.key) + ":" + c.newID(), Rows: c.rowsOf(c.own(closed), c.wordsBefore(c.own(closed)), ""),
	}
	if c.Mode != ModeFollowup {
		for _, t := range c.ready() {
			fact.Turns = append(fact.Turns, t.ID)
		}
	}
	facts := []journal.Fact{fact}
	if len(due) > 0 {
		out := c.copies(due)
		fact.MessageID = out.Message.ID
		facts = append([]journal.Fact{fact, out}, c.settleAnswered(journal.NewTurn(out.Message), c.run.id, nil)...)
	}
	c.append(facts...)
	c.since = time.Time{}
	c.measure(CountMerged, float64(len(fact.Turns)))
	c.markMerged(fact.Turns)
	c.deliverRows(fact.Rows)
	moved := c.takeMoved(nil)
	c.endFrame(closed.ID, "", moved, false)
	c.unmark(moved)
	c.run.renew(fact.MessageID, c.state.Run.Parts)
	c.eventFrame("merge", step, "")
	c.startFrame(fact.Turns)
	c.grew = true
	return fact.MessageID
}

// closed returns the message in progress in its final form for a merge. A message that an earlier run began gets a
// result, because everything it waited for has been decided.
func (c *Chat) closed() uimessage.Message {
	m := c.run.reducer.Snapshot()
	m.ID, m.Role = c.state.Run.MessageID, uimessage.RoleAssistant
	result := ""
	if base, ok := c.state.Turn(m.ID); ok && base.Meta.Result != "" {
		result = string(journal.ResultDone)
	}
	return c.closeTurn(m, c.assistantMeta(result, "", nil), journal.ResultDone).Message
}
