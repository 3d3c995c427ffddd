package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// reloadWait is how long a chat whose store failed waits before it tries again, twice
	// as long after each failure, and longestReload the longest that it waits.
	reloadWait    = 5 * time.Second
	longestReload = 5 * time.Minute
	// freshFor is how old an unfinished run may be to be resumed.
	freshFor = 10 * time.Minute
	// maxAttempts is how often a run may be begun before it is given up.
	maxAttempts = 3
)

// reload: try to read the chat again.
type reload struct{}

// reloading is what a chat knows of its tries to be read.
type reloading struct {
	armed  bool // one is to come
	failed int  // in a row
}

// reloadLater tries again after a while. What waits in the chat waits for nobody's
// message.
func (c *chat) reloadLater() {
	if c.reloading.armed {
		return
	}
	c.reloading.armed = true
	home, wait := c.home, min(reloadWait<<min(c.reloading.failed, 8), longestReload)
	time.AfterFunc(wait, func() { home.Send(reload{}) })
}

// ready loads the chat if need be and goes on with what it left.
func (c *chat) ready(ac actor.Context) bool {
	if c.state != nil {
		return true
	}
	if err := c.load(); err != nil {
		c.log.Error("the chat cannot be read", "error", err)
		c.abandon(ac)
		c.reloadLater()
		c.reloading.failed++
		return false
	}
	c.reloading.failed = 0
	c.recover(ac)
	return c.state != nil
}

// load reads the chat. Data that makes its reader panic is data that cannot be read.
func (c *chat) load() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading the chat panicked: %T", r) // the value may quote people
		}
	}()
	ctx := context.Background()
	if c.store == nil {
		store, err := c.Store.OpenChat(ctx, c.key)
		if err != nil {
			return err
		}
		c.store = store
	}
	snap, err := c.store.Load(ctx)
	if err != nil {
		return err
	}
	for _, d := range snap.Damage {
		c.log.Error("a part of the chat could not be read and is kept in quarantine", "file", d.File, "offset", d.Offset, "bytes", d.Bytes, "reason", d.Why)
	}
	state, err := c.replay(ctx, snap)
	if err != nil {
		return err
	}
	c.trim = messages.Trim{}
	if len(state.Tries) > len(c.compaction.tries) {
		c.compaction.tries = state.Tries
	}
	c.compaction.size = restored(state.Tokens, state.History)
	c.state, c.cache, c.memo, c.handed = state, &prompt.Cache{}, &model.Memo{}, map[journal.RowKey]bool{}
	if n := len(state.History); n > 0 {
		c.seen(state.History)
	}
	if slices.ContainsFunc(c.unseen(), func(t journal.Turn) bool { return t.Meta.Album != "" }) {
		c.files.album = time.Now().Add(albumAgain)
	}
	c.told = c.Metrics.loaded(state)
	c.size.turns, c.size.bytes = 0, 0
	c.weigh()
	return nil
}

// replay makes the state. Counts that do not add up belong to a meta file that was
// lost: they are made anew from the ledger.
func (c *chat) replay(ctx context.Context, snap journal.Snapshot) (*journal.State, error) {
	state, err := journal.Replay(snap)
	if err != nil || state.Balanced() {
		return state, err
	}
	var ledger []journal.Tally
	for e, err := range c.store.Ledger(ctx) {
		if err != nil {
			return nil, err
		}
		ledger = append(ledger, journal.Tally{N: e.N, Dir: e.Dir, Fate: e.Fate})
	}
	given := state.N // also to facts that left nothing in the ledger
	if snap.Meta, err = journal.RebuildMeta(snap, snap.LedgerN, ledger, nil); err != nil {
		return nil, err
	}
	c.log.Warn("the chat's counts were made anew from its ledger")
	if state, err = journal.Replay(snap); err == nil {
		state.N = max(state.N, given) // no number is given twice
	}
	return state, err
}

// seen notes where the chat is, from its newest user turn.
func (c *chat) seen(turns []journal.Turn) {
	for _, t := range slices.Backward(turns) {
		if t.Role == uimessage.RoleUser && t.Meta.ChatType != "" {
			c.chatType, c.title = t.Meta.ChatType, t.Meta.ChatTitle
			return
		}
	}
}

// abandon forgets the state and the run; the disk has what counts.
func (c *chat) abandon(ac actor.Context) {
	c.dropRun(ac)
	c.dropCompaction(ac)
	c.dropMemory(ac)
	c.forget()
	if c.store != nil {
		_ = c.store.Close() // it failed already
		c.store = nil
	}
}

// forget drops the state from memory.
func (c *chat) forget() {
	c.tell()
	c.Metrics.forgot(c.told)
	c.told = told{}
	c.state, c.cache, c.lastSystem = nil, nil, ""
	c.noFetching()
	c.compaction.forget()
	clear(c.delayed)
	c.disarm()
	c.deadlines = nil // a chat that is read anew goes by the wall clock
	c.grants, c.allowed = grants{}, nil
	c.forgetHeld()
	c.forgetReferring()
}

// recover goes on with what the last activation left: rows, a run, open turns.
// Rows come first: they are older than what the end of the run may owe.
func (c *chat) recover(ac actor.Context) {
	for _, row := range c.state.Pending() {
		c.deliver(ac, row)
	}
	if c.state.Run != nil {
		c.resume(ac)
	}
	if c.state == nil {
		return
	}
	c.armExpiry()
	c.expire(ac)
	if c.state == nil || c.capOpen(ac) != nil {
		return // it will be read anew
	}
	c.next(ac)
}

// resume decides what becomes of a run that a crash ended.
func (c *chat) resume(ac actor.Context) {
	run := c.state.Run
	c.log.Info("a run was interrupted", "run_id", run.ID, "request_id", run.RequestID, "attempt", run.Attempt, "step", run.Step)
	if c.state.RunStumbles(run.ID) < maxStumbles {
		c.run = newRunner(run, nil)
	}
	age := time.Since(time.UnixMilli(run.Last))
	switch {
	case c.state.RunStumbles(run.ID) >= maxStumbles:
		c.giveUp(ac, run)
	case run.Stop != nil:
		c.finish(ac, journal.ResultStopped, "stopped")
	case age > freshFor || age < -freshFor:
		c.finish(ac, journal.ResultInterrupted, "too_old")
	case run.Attempt >= maxAttempts:
		c.finish(ac, journal.ResultFailed, "recovery")
	default:
		c.goOnAfterCrash(ac, run)
	}
}

// goOnAfterCrash settles calls whose outcome is unknown and starts the run again
// behind its last whole step.
func (c *chat) goOnAfterCrash(ac actor.Context, run *journal.Run) {
	var facts []journal.Fact
	var again []string
	for _, p := range run.Parts {
		t, ok := p.(uimessage.Tool)
		if !ok || t.State.Settled() || t.Approval != nil {
			continue
		}
		if !run.Begun[t.ToolCallID] {
			again = append(again, t.ToolCallID)
			continue
		}
		facts = append(facts, journal.ToolFinished{RunID: run.ID, MessageID: run.MessageID, Part: interrupted(t)})
		c.tellInterrupted(t, journal.Request{})
	}
	turn, _ := c.state.Turn(run.MessageID)
	turn.ID, turn.Role, turn.Parts = run.MessageID, uimessage.RoleAssistant, run.Parts
	facts = append(facts, c.settleAnswered(turn, run.ID, run.Begun)...)
	if len(facts) > 0 && c.append(ac, facts...) != nil {
		return
	}
	pending := len(again) > 0 || turn.Answered() || asking(run.Parts)
	if run.Final && !pending {
		c.run = newRunner(run, nil)
		c.finish(ac, journal.ResultDone, "")
		return
	}
	if run.Switch.Kind != "" && !pending && len(c.state.Due()) == 0 {
		c.run = newRunner(run, nil)
		c.finish(ac, journal.ResultSwitching, "")
		return
	}
	started := journal.RunStarted{RunID: run.ID, MessageID: run.MessageID, RequestID: run.RequestID, Attempt: run.Attempt + 1}
	if c.note(ac, started) != nil {
		return
	}
	if atBoundary := run.Step > 0 && !pending; atBoundary && len(c.come()) > 0 && c.Mode != ModeFollowup {
		c.run = newRunner(run, nil) // with the outcomes
		if _, ok := c.merge(ac, run.Step+1, nil); !ok {
			return
		}
	}
	c.spawnRun(ac, again)
}

// rest folds the journal away when nothing is under way.
func (c *chat) fold(ac actor.Context) error {
	if c.state.Run != nil || c.state.Clean() {
		return nil
	}
	f := c.state.Fold(time.Now().UnixMilli())
	if err := c.store.Fold(context.Background(), f); err != nil {
		c.storeFailed(ac, err)
		return err
	}
	c.state.Folded()
	return nil
}

// restLater arms the fold; whatever happens before disarms it.
func (c *chat) restLater() {
	c.weigh()
	c.resting++
	gen, home := c.resting, c.home
	if c.rest != nil {
		c.rest.Stop() // one that has fired already is of an older generation
	}
	c.rest = time.AfterFunc(foldAfter, func() { home.Send(foldDue{gen}) })
}

func (c *chat) onFoldDue(ac actor.Context, msg foldDue) {
	if msg.gen == c.resting && c.state != nil && c.state.Run == nil {
		_ = c.fold(ac) // a failure was logged, and the journal still has everything
	}
}

// idle reports that nothing is left to do; a chat that cannot be read has its
// open turns to come back to.
func (c *chat) idle() bool {
	return c.state != nil && c.state.Run == nil && c.state.OpenTurns() == 0 && len(c.state.Pending()) == 0 && len(c.asks) == 0 && len(c.waits.list) == 0 && !c.undecided() &&
		c.compaction.pid == nil && c.memory.pid == nil
}

// undecided reports whether a request is open, or an answer has not had its
// outcome.
func (c *chat) undecided() bool {
	turn, continues := c.state.Continues()
	_, _, _, switching := c.state.Switching()
	return continues || switching || turn.GoesOn() || len(c.state.OpenRequests()) > 0 || len(c.state.Due()) > 0 || len(c.state.Referrals) > 0 || c.outcomesOwed() > 0
}

func (c *chat) askPassivate(ac actor.Context, msg messages.AskPassivate) {
	if !c.idle() || len(c.watchers) > 0 || !c.putToRest(ac) {
		c.remind(ac)
		ac.Respond(messages.PassivateBusy{ChatKey: c.key})
		return
	}
	ac.Respond(messages.PassivateOK{ChatKey: c.key, Seq: msg.Seq})
}

// putToRest saves everything of an idle chat and takes it off the list of those to wake.
func (c *chat) putToRest(ac actor.Context) bool {
	if c.fold(ac) != nil || c.state == nil {
		return false
	}
	if err := c.store.Rest(context.Background()); err != nil {
		c.log.Warn("the chat could not be marked as resting", "error", err)
	}
	return true
}

// drain ends the activation as soon as what is under way has ended. Turns that
// wait are durable and will be the next start's.
func (c *chat) drain(ac actor.Context) {
	c.closing, c.drainer = true, ac.Sender()
	c.dropCompaction(ac)
	c.dropMemory(ac)
	c.drained(ac)
}

// drained answers when nothing is under way.
func (c *chat) drained(ac actor.Context) {
	if !c.closing || c.drainer == nil {
		return
	}
	if c.state != nil && (c.state.Run != nil || len(c.state.Pending()) > 0) {
		return
	}
	if c.idle() {
		c.putToRest(ac)
	}
	ac.Send(c.drainer, messages.Drained{ChatKey: c.key})
	c.drainer = nil
}
