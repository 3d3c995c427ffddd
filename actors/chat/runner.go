package chat

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/kin"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// runner is what the chat holds of the run under way beyond the facts.
type runner struct {
	id       string
	pid      *actor.PID // nil: none, the run is only being settled
	reducer  *uistream.Reducer
	before   uimessage.Message // the message as of the step's begin
	kept     int               // parts that are journaled
	began    time.Time
	usage    uimessage.Usage
	steps    int             // model calls that responded
	shown    []journal.Shown // of calls that ask, of a step that is not journaled
	draft    string
	lastSent map[string]bool // texts sent since the last turn became visible
	// facts and docs are what the run's system text is made of, with these skills.
	facts  prompt.Facts
	docs   prompt.Documents
	pinned []string
}

// runTick: typing and drafts of a long answer.
type runTick struct{ runID string }

const (
	tickFirst = 1200 * time.Millisecond
	tickEvery = 1200 * time.Millisecond
)

func newRunner(run *journal.Run, pid *actor.PID) *runner {
	m := uimessage.Message{ID: run.MessageID, Role: uimessage.RoleAssistant, Parts: run.Parts}
	r := &runner{id: run.ID, pid: pid, before: m, kept: settledParts(run.Parts), began: time.Now(), lastSent: map[string]bool{}}
	r.restart()
	return r
}

// settledParts counts the parts that nothing changes any more.
func settledParts(parts []uimessage.Part) int {
	for i, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && !t.State.Settled() {
			return i
		}
	}
	return len(parts)
}

// restart forgets what came since the step began.
func (r *runner) restart() {
	if len(r.before.Parts) == 0 {
		r.reducer = uistream.NewWriter(nil, r.before.ID)
		return
	}
	before := r.before
	r.reducer = uistream.NewWriter(&before, before.ID)
}

// renew begins another message, perhaps with parts that it has already.
func (r *runner) renew(messageID string, parts []uimessage.Part) {
	r.before = uimessage.Message{ID: messageID, Role: uimessage.RoleAssistant, Parts: parts}
	r.kept, r.draft, r.lastSent = settledParts(parts), "", map[string]bool{}
	r.restart()
}

// newID is a random id that sorts by time.
func newID(now time.Time) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	var b [9]byte
	ms := now.UnixMilli()
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[ms&31]
		ms >>= 5
	}
	return string(b[:]) + strings.ToLower(rand.Text()[:16])
}

// next starts a run if there is something to do and none is under way: decided
// calls first, then open turns. Idle with either of them is an impossible state.
func (c *chat) next(ac actor.Context) {
	if c.state == nil {
		return
	}
	if c.state.Run != nil {
		c.fetchAll()
		return
	}
	c.obeySwitch(ac)
	if c.state != nil {
		c.applyFold(ac)
	}
	if c.state == nil {
		return // it will be read anew, and goes on then
	}
	c.holding = time.Time{}
	c.holds++
	open, due := c.state.Open(), c.state.Due()
	turn, continues := c.state.Continues()
	switch {
	case c.closing:
		c.restLater()
		c.drained(ac)
	case c.fetchAll(): // it goes on when they are there
	case continues || turn.GoesOn():
		c.continueRun(ac, turn)
	case len(due) > 0:
		c.beginOutcome(ac, due)
	case len(open) > 0:
		c.startRun(ac, open)
	default:
		c.restLater()
		c.drained(ac)
	}
}

func (c *chat) startRun(ac actor.Context, open []journal.Turn) {
	now := time.Now()
	requestID := open[len(open)-1].Meta.RequestID
	fact := journal.RunStarted{
		RunID: "r_" + newID(now), MessageID: "a:" + string(c.key) + ":" + newID(now), RequestID: requestID, Attempt: 1,
	}
	if c.note(ac, fact) != nil {
		return
	}
	c.spawnRun(ac, nil)
	c.compactIfLong(ac)
}

// spawnRun makes the actor of the state's run and hands it its first input.
func (c *chat) spawnRun(ac actor.Context, resume []string) {
	run := c.state.Run
	pid, err := ac.SpawnNamed(c.Run(c.memo), "run-"+newID(time.Now()))
	if err != nil { // Unreachable: the name is new
		c.log.Error("spawn of a run failed", "error", err)
		return
	}
	c.run = newRunner(run, pid)
	c.first, c.since = firstWord{run.ID, c.since}, time.Time{}
	if c.first.since.IsZero() {
		c.first.since = c.run.began
	}
	c.Metrics.runStarted()
	c.audit(AuditEntry{Event: "run", RequestID: run.RequestID, RunID: run.ID, Result: "started"})
	c.startFrame(ac, c.visible())
	step := run.Step + 1
	if len(resume) > 0 {
		step = run.Step // it still needs outcomes
	}
	facts, docs, only := c.documents()
	c.run.facts, c.run.docs, c.run.pinned = facts, docs, c.state.Pinned
	c.lastSystem = prompt.System(facts, docs)
	start := messages.StartRun{
		ChatKey: c.key, RunID: run.ID, RequestID: run.RequestID, Asker: c.asker(), Group: c.group(), System: c.lastSystem, Only: only,
		Tools: c.Tools(c.key, c.via.ToolEgress), Continue: c.run.before, Resume: resume, Input: c.input(step),
		Hold: asking(c.run.before.Parts), Approved: c.approvedCalls(), Grants: c.live(), Waiting: c.openRequests(), NextRequest: c.state.NextRequest(), Trim: c.trim,
		MayShorten: c.Compaction != nil,
	}
	c.tellApproved(run.Parts)
	ac.Request(pid, start)
	if c.via.Typing || c.via.Drafts {
		c.tick(tickFirst)
	}
}

// asking reports whether one of the parts waits for a person.
func asking(parts []uimessage.Part) bool {
	return slices.ContainsFunc(parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolApprovalRequested
	})
}

// dropRun ends the run's actor without settling anything.
func (c *chat) dropRun(ac actor.Context) {
	if c.run == nil {
		return
	}
	if c.run.pid != nil {
		ac.Send(c.run.pid, messages.CancelRun{RunID: c.run.id})
		ac.Stop(c.run.pid)
		c.Metrics.runEnded()
	}
	c.run = nil
}

// visible are the turns that the run's message answers.
func (c *chat) visible() []string {
	var ids []string
	for _, v := range c.state.Run.Visible {
		ids = append(ids, v.TurnID)
	}
	return ids
}

// asker is the sender of the newest turn that the model sees.
func (c *chat) asker() messages.Asker {
	for _, t := range slices.Backward(c.state.History) {
		if t.Role == uimessage.RoleUser {
			return messages.Asker{Platform: t.Meta.Channel, ID: t.Meta.UserID, Name: t.Meta.Username}
		}
	}
	return messages.Asker{}
}

// fromRun takes what the run under way says. What comes from a run that is over,
// or from an earlier life of this one, is too late.
func (c *chat) fromRun(ac actor.Context, msg messages.ToChat) {
	if c.run == nil || c.run.pid == nil || !c.run.pid.Equal(ac.Sender()) {
		return
	}
	switch msg := msg.(type) {
	case messages.RunProgressed:
		c.progress(ac, msg.Chunks)
	case messages.StepRestarted:
		c.trim = msg.Trim
		c.run.restart()
		c.replayFrame(ac)
	case messages.StepDone:
		c.stepDone(ac, msg)
	case messages.ToolDone:
		c.toolDone(ac, msg)
	case messages.StepEnded:
		c.stepEnded(ac, msg)
	case messages.RunFailed:
		c.runFailed(ac, msg)
	case messages.ShortenInput:
		c.shorten(ac, msg)
	default: // only these come from runs
	}
}

// runGone ends a run whose actor ended by itself: it panicked.
func (c *chat) runGone(ac actor.Context, who *actor.PID) {
	kin.Forget(ac)
	if c.run != nil && c.run.pid != nil && c.run.pid.Equal(who) {
		c.runFailed(ac, messages.RunFailed{RunID: c.run.id, Reason: "internal", Err: "the run panicked"})
	}
}

// ours reports whether a run is the one under way.
func (c *chat) ours(runID string) bool { return c.run != nil && c.run.id == runID }

// progress applies chunks to the message and shows them to watchers.
func (c *chat) progress(ac actor.Context, chunks []uistream.Chunk) {
	for _, chunk := range chunks {
		if _, err := c.run.reducer.Apply(chunk); err != nil {
			c.log.Error("a chunk does not fit the message", "run_id", c.run.id, "error", err)
			break
		}
	}
	if !c.via.Outbox && c.underWay() != "" {
		c.firstEgress(c.run.id)
	}
	c.chunkFrame(ac, c.state.Run.MessageID, chunks)
}

// stepDone journals the response before any of its calls may begin.
func (c *chat) stepDone(ac actor.Context, msg messages.StepDone) {
	c.progress(ac, msg.Chunks)
	c.addUsage(msg.Usage)
	c.trim = msg.Trim
	c.compaction.size.report(msg.Usage, len(c.state.History), c.trim)
	c.run.steps++
	c.run.shown = shownOf(msg.Asked)
	if msg.Ends != "" {
		c.endRun(ac, msg.Ends, msg.Reason)
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
	if c.append(ac, facts...) != nil {
		return
	}
	c.run.kept = len(m.Parts)
	c.eventFrame(ac, "assistant", msg.Step, "")
	if len(msg.Calls) > 0 {
		c.tellRuled(msg.Calls, m)
		ac.Send(c.run.pid, messages.ExecuteCalls{RunID: c.run.id, LaneEmpty: len(c.state.Lane) == 0})
		return
	}
	c.boundary(ac, msg.Step)
}

func (c *chat) addUsage(u uimessage.Usage) {
	t := &c.run.usage
	t.InputTokens += u.InputTokens
	t.OutputTokens += u.OutputTokens
	t.TotalTokens += u.TotalTokens
	t.ReasoningTokens += u.ReasoningTokens
	t.CachedInputTokens += u.CachedInputTokens
}

// toolDone journals an outcome.
func (c *chat) toolDone(ac actor.Context, msg messages.ToolDone) {
	c.progress(ac, msg.Chunks)
	if msg.Preliminary {
		return
	}
	part, ok := toolPart(c.run.reducer.Message(), msg.CallID)
	if !ok {
		return
	}
	fact := journal.ToolFinished{RunID: c.run.id, MessageID: c.state.Run.MessageID, Part: part, Final: msg.Final, Switch: msg.Switch, Skill: msg.Skill}
	write := c.note
	if msg.Forced || msg.Skill.Name != "" {
		write = c.append
	}
	if write(ac, fact) != nil {
		return
	}
	result := "ok"
	if msg.Failed {
		result = "error"
	}
	c.audit(AuditEntry{Event: "tool", RequestID: c.state.Run.RequestID, RunID: c.run.id, Name: part.Name, Result: result})
	c.tellEnded(msg.CallID, result)
	c.eventFrame(ac, "tool_summary", c.state.Run.Step, msg.Summary)
}

func toolPart(m uimessage.Message, callID string) (uimessage.Tool, bool) {
	for _, p := range slices.Backward(m.Parts) {
		if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == callID {
			return t, true
		}
	}
	return uimessage.Tool{}, false
}

func (c *chat) stepEnded(ac actor.Context, msg messages.StepEnded) {
	c.progress(ac, msg.Chunks)
	c.eventFrame(ac, "step_finish", msg.Step, "")
	if msg.Ends != "" {
		c.endRun(ac, msg.Ends, msg.Reason)
		return
	}
	if c.state.Run.Switch.Kind != "" && len(c.state.Due()) == 0 {
		c.finish(ac, journal.ResultSwitching, "")
		return
	}
	c.boundary(ac, msg.Step)
}

// endRun ends the run as its last step says.
func (c *chat) endRun(ac actor.Context, ends, reason string) {
	switch ends {
	case "waiting":
		c.finish(ac, journal.ResultWaiting, reason)
	case "failed", "limit":
		c.finish(ac, journal.ResultFailed, reason)
	default:
		c.finish(ac, journal.ResultDone, reason)
	}
}

func (c *chat) runFailed(ac actor.Context, msg messages.RunFailed) {
	c.log.Error("a run failed", "run_id", msg.RunID, "request_id", c.state.Run.RequestID, "reason", msg.Reason, "error", msg.Err)
	if len(c.run.reducer.Message().Parts) > len(c.run.before.Parts) {
		c.run.restart() // what came of a step that failed is not an answer
		c.replayFrame(ac)
	}
	c.finish(ac, journal.ResultFailed, msg.Reason)
}

// boundary lets waiting turns and late answers in and makes the next step.
func (c *chat) boundary(ac actor.Context, step int) {
	next := messages.ContinueRun{RunID: c.run.id}
	due := c.state.Due()
	if len(c.come()) > 0 && c.Mode != ModeFollowup || len(due) > 0 {
		id, ok := c.merge(ac, step+1, due)
		if !ok {
			return
		}
		next.MessageID, next.Approved = id, c.approvedCalls()
		c.tellApproved(c.state.Run.Parts)
	} else {
		c.run.before = c.run.reducer.Snapshot()
	}
	next.Asker, next.Input, next.Grants = c.asker(), c.input(step+1), c.live()
	next.System, next.Only = c.reloaded()
	ac.Send(c.run.pid, next)
}

// merge closes the assistant message and makes the waiting turns visible, and the
// outcome of late answers.
func (c *chat) merge(ac actor.Context, step int, due []journal.Asked) (messageID string, ok bool) {
	closed := c.closed()
	fact := journal.TurnsMerged{
		RunID: c.run.id, Step: step, Closed: closed, MessageID: "a:" + string(c.key) + ":" + newID(time.Now()), Rows: c.rowsOf(c.own(closed), c.wordsBefore(c.own(closed)), ""),
	}
	if c.Mode != ModeFollowup {
		for _, t := range c.come() {
			fact.Turns = append(fact.Turns, t.ID)
		}
	}
	facts := []journal.Fact{fact}
	if len(due) > 0 {
		out := c.copies(due)
		fact.MessageID = out.Message.ID
		facts = append([]journal.Fact{fact, out}, c.settleAnswered(journal.NewTurn(out.Message), c.run.id, nil)...)
	}
	if c.append(ac, facts...) != nil {
		return "", false
	}
	c.since = time.Time{}
	c.Metrics.merged(len(fact.Turns))
	c.markMerged(ac, fact.Turns)
	c.deliverRows(ac, fact.Rows)
	moved := c.takeMoved(nil)
	c.endFrame(ac, closed.ID, "", moved, false)
	c.unmark(ac, moved)
	c.run.renew(fact.MessageID, c.state.Run.Parts)
	c.eventFrame(ac, "merge", step, "")
	c.startFrame(ac, fact.Turns)
	c.compactIfLong(ac)
	return fact.MessageID, true
}

// closed is the message under way as it is when a merge closes it. The result of
// one that the run continued is known: what it waited for was decided.
func (c *chat) closed() uimessage.Message {
	m := c.run.reducer.Snapshot()
	m.ID, m.Role = c.state.Run.MessageID, uimessage.RoleAssistant
	result := ""
	if base, ok := c.state.Turn(m.ID); ok && base.Meta.Result != "" {
		result = string(journal.ResultDone)
	}
	return c.closeTurn(m, c.assistantMeta(result, "", nil), journal.ResultDone).Message
}
