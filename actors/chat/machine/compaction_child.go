package machine

import (
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
)

// onCompacted handles the result of the child. The history may have grown since the child began.
func (c *Chat) onCompacted(msg messages.CompactionFinished) {
	f := &c.compaction
	if f.child == "" || f.child != c.In.Child || f.id != msg.CompactionID {
		return
	}
	c.Effect(decision.Stop{Name: f.child})
	asked := f.asked
	f.child, f.asked = "", messages.ShortenInput{}
	if n := len(msg.Tokens); n > 0 && n <= len(c.State.History) && c.State.History[n-1].ID == f.last {
		f.size.Counted(msg.System, msg.Tokens)
		c.KeptTokens = f.size.Kept(c.State.History)
	}
	f.aged = msg.Aged
	if msg.Summary == "" {
		c.notCompacted(msg.Result, len(msg.Tokens))
	} else {
		f.ready = c.readySummary(msg)
	}
	c.answerShorten(asked)
	c.grew = len(c.State.History) > len(msg.Tokens) // there are turns that the child did not see
}

// compactionGone handles a child that ended without a result.
func (c *Chat) compactionGone(child string) {
	f := &c.compaction
	if f.child == "" || f.child != child {
		return
	}
	asked := f.asked
	f.child, f.asked = "", messages.ShortenInput{}
	c.notCompacted(messages.ResultFailed, 0)
	c.answerShorten(asked)
}

// dropCompaction stops the child. A run that waits for it continues without a summary.
func (c *Chat) dropCompaction() {
	f := &c.compaction
	asked := f.asked
	if f.child != "" {
		c.Effect(decision.Stop{Name: f.child})
		f.child, f.asked = "", messages.ShortenInput{}
	}
	c.answerShorten(asked)
}

// shorten compacts the history for a run whose request is too long.
func (c *Chat) shorten(msg messages.ShortenInput) {
	f := &c.compaction
	if f.child == "" && f.ready == nil {
		c.compact(messages.CauseOverflow)
	}
	if f.child != "" {
		f.asked, f.cause = msg, messages.CauseOverflow
		return
	}
	c.answerShorten(msg)
}

// answerShorten lets a run that waited for a compaction continue, whatever the result.
func (c *Chat) answerShorten(msg messages.ShortenInput) {
	if msg == (messages.ShortenInput{}) || c.RunChild == "" || !c.ours(msg.RunID) {
		return
	}
	answer := messages.InputShortened{RunID: msg.RunID}
	if r := c.compaction.ready; r != nil && !r.shown && c.fits(r) {
		r.shown, answer.Shorter = true, true
		c.trim = messages.Trim{}
		c.PrefixBroken("compaction")
	}
	answer.Input = c.input(msg.Step)
	c.Tell(answer)
}
