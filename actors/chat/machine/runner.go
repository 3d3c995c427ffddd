package machine

import (
	"cmp"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// runner is the state of the run in progress that is not journaled.
type runner struct {
	reducer  *uistream.Reducer
	before   uimessage.Message // the message at the beginning of the step
	kept     int               // number of parts that are journaled
	began    time.Time
	model    decision.ModelChoice // which answers
	effort   string               // how much it thinks
	usage    uimessage.Usage
	steps    int             // model calls that returned a response
	shown    []journal.Shown // calls that ask, in a step that is not journaled yet
	draft    string
	lastSent map[string]bool // texts sent since the last turn became visible
}

// runTick is the timer message for typing indicators and drafts.
type runTick struct{ runID string }

const (
	tickFirst = 1200 * time.Millisecond
	tickEvery = 1200 * time.Millisecond
)

// setRun makes a run the one in progress; nil means none. Without the name of its actor the run is only being settled.
func (c *Chat) setRun(run *journal.Run, child string) {
	if run == nil {
		c.run, c.RunID, c.RunChild = nil, "", ""
		return
	}
	c.run, c.RunID, c.RunChild = &runner{began: c.Now(), model: c.ChosenModel(), effort: c.ChosenEffort()}, run.ID, child
	c.run.renew(run.MessageID, run.Parts)
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
func (r *runner) renew(messageID string, soFar []uimessage.Part) {
	r.before = uimessage.Message{ID: messageID, Role: uimessage.RoleAssistant, Parts: soFar}
	r.kept, r.draft, r.lastSent = parts.Settled(soFar), "", nil
	r.restart()
}

// dropRun stops the run's actor without settling anything.
func (c *Chat) dropRun() {
	if c.RunChild != "" {
		c.Effect(decision.Stop{Name: c.RunChild})
		c.Count(decision.CountRunGone, "")
	}
	c.setRun(nil, "")
}

// visible returns the ids of the turns that the run's message answers.
func (c *Chat) visible() []string {
	var ids []string
	for _, v := range c.State.Run.Visible {
		ids = append(ids, v.TurnID)
	}
	return ids
}

// ours reports whether a run is the one in progress.
func (c *Chat) ours(runID string) bool { return c.RunID != "" && c.RunID == runID }

// sum adds the usage of a message's runs.
func sum(a, b *uimessage.Usage) *uimessage.Usage {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := plus(*a, *b)
	return &out
}

func plus(a, b uimessage.Usage) uimessage.Usage {
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	a.TotalTokens += b.TotalTokens
	a.ReasoningTokens += b.ReasoningTokens
	a.CachedInputTokens += b.CachedInputTokens
	return a
}
