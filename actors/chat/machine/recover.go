package machine

import (
	"log/slog"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// freshFor is how recently an unfinished run must have been active to be resumed.
	freshFor = 10 * time.Minute
	// maxAttempts is how often a run may be started before it fails.
	maxAttempts = 3
)

// Load sets a state that was read from the store, together with the meta file it was made from.
func (c *Chat) Load(state *journal.State, meta journal.Meta, store Archive, now time.Time) {
	c.state, c.store = state, store
	f := &c.compaction
	f.keptTries, f.keptTokens = meta.Tries, meta.Tokens
	if len(meta.Tries) > len(f.tries) {
		f.tries = meta.Tries
	}
	f.size = length.Restored(meta.Tokens, state.History)
	c.cache, c.trim, c.handed = &prompt.Cache{}, messages.Trim{}, nil
	c.seen(state.History)
	if slices.ContainsFunc(c.unseen(), func(t journal.Turn) bool { return t.Meta.Album != "" }) {
		c.files.album = now.Add(albumAgain)
	}
}

// Left returns the chat without its state, keeping what its next state can use.
func (c *Chat) Left() *Chat {
	w := *c
	w.state, w.store = nil, nil
	s := &w.session
	s.cache, s.run, s.lastSystem = nil, nil, ""
	s.files = fetching{n: c.files.n} // so that results of earlier fetches are recognized as late
	s.compaction = compacting{tries: c.compaction.tries}
	s.memory = remembering{}
	s.size.Recount()
	s.delayed = nil
	s.deadlines, s.expiry = nil, time.Time{} // after a reload deadlines follow the wall clock
	s.grants, s.allowed = nil, nil
	s.waits, s.refers, s.elsewhere, s.shownEnds, s.gathering = heldBack{}, referral.Asking{}, nil, nil, nil
	s.rests, s.restsAt, s.lookedAt, s.ended, s.grew = false, 0, 0, false, false
	s.holding = time.Time{} // its timer ended with the state
	return &w
}

// seen takes the type and title of the chat from its newest user turn.
func (c *Chat) seen(turns []journal.Turn) {
	for _, t := range slices.Backward(turns) {
		if t.Role == uimessage.RoleUser && t.Meta.ChatType != "" {
			c.chatType, c.title = t.Meta.ChatType, t.Meta.ChatTitle
			return
		}
	}
}

// recover continues the work of the last activation: rows, a run, requests. Rows come first because they are older
// than those of the run's end.
func (c *Chat) recover() {
	for _, row := range c.state.Pending() {
		c.deliver(row)
	}
	if c.state.Run != nil {
		c.resume()
	}
	c.armExpiry()
	c.expire()
}

// resume decides whether a run that a crash interrupted continues or ends.
func (c *Chat) resume() {
	run := c.state.Run
	c.log(slog.LevelInfo, "a run was interrupted", "run_id", run.ID, "request_id", run.RequestID, "attempt", run.Attempt, "step", run.Step)
	if c.state.RunStumbles(run.ID) < maxStumbles {
		c.run = newRunner(run, "", c.now())
	}
	age := c.ago(time.UnixMilli(run.Last))
	switch {
	case c.state.RunStumbles(run.ID) >= maxStumbles:
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
			facts = append(facts, journal.ToolFinished{RunID: run.ID, MessageID: run.MessageID, Part: interrupted(t)})
			c.tellInterrupted(t, journal.Request{})
		}
	}
	turn, _ := c.state.Turn(run.MessageID)
	turn.ID, turn.Role, turn.Parts = run.MessageID, uimessage.RoleAssistant, run.Parts
	facts = append(facts, c.settleAnswered(turn, run.ID, run.Begun)...)
	c.append(facts...)
	pending := len(unbegun(run)) > 0 || turn.Answered() || asking(run.Parts)
	c.run = newRunner(run, "", c.now()) // rebuilt with the outcomes
	switch {
	case run.Final && !pending:
		c.finish(journal.ResultDone, "")
		return
	case run.Switch.Kind != "" && !pending && len(c.state.Due()) == 0:
		c.finish(journal.ResultSwitching, "")
		return
	}
	c.note(journal.RunStarted{RunID: run.ID, MessageID: run.MessageID, RequestID: run.RequestID, Attempt: run.Attempt + 1})
	if run.Step > 0 && !pending && len(c.ready()) > 0 && c.Mode != ModeFollowup {
		c.merge(run.Step+1, nil)
	}
	c.run = nil // nextRun starts it
}

// rest sets the timer that checkpoints the journal after a period without activity.
func (c *Chat) rest() {
	if c.state.HasFacts() && c.restsAt != c.state.N {
		c.restsAt = c.state.N
		c.timer("checkpoint", restAfter, checkpointDue{})
	}
}

// quiet reports whether nothing is left to do.
func (c *Chat) quiet() bool {
	return c.state.Run == nil && c.state.OpenTurns() == 0 && len(c.state.Pending()) == 0 && len(c.asks) == 0 && len(c.waits.list) == 0 && !c.undecided() &&
		c.compaction.child == "" && c.memory.child == ""
}

// undecided reports whether a request is open or a decision has not yet had its outcome.
func (c *Chat) undecided() bool {
	turn, continues := c.state.Continues()
	_, _, _, switching := c.state.Switching()
	return continues || switching || turn.GoesOn() || len(c.state.OpenRequests()) > 0 || len(c.state.Due()) > 0 || len(c.state.Referrals) > 0 || c.outcomesOwed() > 0
}

func (c *Chat) askPassivate(msg messages.AskPassivate) {
	if !c.quiet() || len(c.watchers) > 0 {
		c.remind()
		c.answer(messages.PassivateBusy{ChatKey: c.key})
		return
	}
	c.p.MayRefuse = true
	c.putToRest()
	c.answer(messages.PassivateOK{ChatKey: c.key, Seq: msg.Seq})
}

// putToRest saves everything of an idle chat and removes it from the list of chats that the host loads when it starts.
func (c *Chat) putToRest() {
	c.checkpoint()
	c.p.Rest = true
}

// drain ends the activation once nothing is in progress. Queued turns are durable and are handled after the next
// start.
func (c *Chat) drain() {
	c.closing, c.drainer = true, c.in.Sender
	c.dropCompaction()
	c.dropMemory()
}

// drained answers the drain once nothing is in progress.
func (c *Chat) drained() {
	if !c.closing || c.drainer == nil || c.state.Run != nil || len(c.state.Pending()) > 0 {
		return
	}
	if c.quiet() {
		c.putToRest()
	}
	c.send(c.drainer, messages.Drained{ChatKey: c.key})
	c.drainer = nil
}
