package machine

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// applyCompaction replaces the summarized turns with a summary that is ready, or archives large outputs. The turns are
// archived first, then the history is rewritten once. It may be called only between runs, and reports whether there
// was anything to do.
func (c *Chat) applyCompaction() bool {
	f := &c.compaction
	switch {
	case f.ready != nil:
		c.copyState()
		ready := f.ready
		f.ready = nil
		c.putSummary(ready)
	case f.aged != nil:
		c.copyState()
		aged := f.aged
		f.aged = nil
		c.ageOutputs(aged)
	default:
		return false
	}
	return true
}

// compactionRefused and agingRefused report that the store refused the shorter history.
type (
	compactionRefused struct{}
	agingRefused      struct{}
)

// putSummary rewrites the history with the summary in place of its turns.
func (c *Chat) putSummary(ready *readyFold) {
	if !c.fits(ready) {
		c.notCompacted(resultChanged, 0)
		return
	}
	c.checkpoint()
	size := c.compaction.size.Compacted(ready.to, ready.done.SummaryTokens)
	now := c.now()
	rewrite := journal.Rewrite{At: now, To: ready.to, Meta: c.meta()}
	rewrite.Meta.Cursor, rewrite.Meta.Tries = "", nil
	rewrite.Meta.Pinned = c.needed(contentsOf(c.state.History[ready.to:]))
	if !c.NoArchive {
		first, last := c.state.History[0].Meta.Seq, c.state.History[ready.to-1].Meta.Seq
		rewrite.ArchiveID = fmt.Sprintf("%s-%d-%d", now.UTC().Format("20060102T150405.000Z"), first, last)
		rewrite.Meta.Cursor = rewrite.ArchiveID
		ready.summary = named(ready.summary, rewrite.ArchiveID)
	}
	rewrite.Insert = []uimessage.Message{ready.summary}
	rewrite.Meta.Tokens = size.Kept(append([]journal.Turn{{Message: ready.summary}}, c.state.History[ready.to:]...))
	c.p.IfRefused = compactionRefused{}
	c.rewrite(rewrite)
	c.compaction.size = size
	c.compacted(ready)
}

// named returns a summary that names the archive of its turns.
func named(summary uimessage.Message, archive string) uimessage.Message {
	meta := journal.NewTurn(summary).Meta
	if value, err := json.Marshal(archive); err == nil {
		meta.Extra = append(meta.Extra, uimessage.Member{Name: "archive", Value: value})
	}
	summary.Metadata = meta.Append(nil)
	return summary
}

// fits reports whether the summarized turns are still unchanged at the head of the history.
func (c *Chat) fits(ready *readyFold) bool {
	if ready.to > len(c.state.History) {
		return false
	}
	turns := make([]uimessage.Message, ready.to)
	for i := range turns {
		turns[i] = c.state.History[i].Message
	}
	return messages.PrefixHash(turns) == ready.hash
}

// compacted resets what depended on the old history and reports the compaction.
func (c *Chat) compacted(ready *readyFold) {
	f := &c.compaction
	if !ready.shown {
		// What requests leave out is given by positions, which have changed.
		c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
		c.prefixBroken("compaction")
	}
	f.stale, f.tries = 0, nil
	c.size.Recount()
	c.countCompaction(ready.done.Result)
	c.measure(CountTokensBefore, float64(ready.done.Before))
	c.measure(CountTokensAfter, float64(ready.done.After))
	c.log(slog.LevelInfo, "the chat was compacted", "cause", string(f.cause), "result", ready.done.Result, "turns", ready.to,
		"tokens_before", ready.done.Before, "tokens_after", ready.done.After)
}

// prefixBroken reports to the metrics that the next request will not begin like the previous one.
func (c *Chat) prefixBroken(cause string) {
	c.effect(PrefixBroken{cause})
}

// shown returns the history as the run sees it. If the run needed a summary to continue, it is used here before it is
// durable.
func (c *Chat) shown() prompt.History {
	turns := c.state.History
	if r := c.compaction.ready; r != nil && r.shown {
		return prompt.History{Len: len(turns) - r.to + 1, At: func(i int) *uimessage.Message {
			if i == 0 {
				return &r.summary
			}
			return &turns[r.to+i-1].Message
		}}
	}
	return prompt.History{Len: len(turns), At: func(i int) *uimessage.Message { return &turns[i].Message }}
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
	if msg == (messages.ShortenInput{}) || c.RunChild() == "" || !c.ours(msg.RunID) {
		return
	}
	answer := messages.InputShortened{RunID: msg.RunID}
	if r := c.compaction.ready; r != nil && !r.shown && c.fits(r) {
		r.shown, answer.Shorter = true, true
		c.trim = messages.Trim{}
		c.prefixBroken("compaction")
	}
	answer.Input = c.input(msg.Step)
	c.tellRun(answer)
}

// ageOutputs removes large tool outputs from turns that stay in the history but are too large. Each original turn is
// archived, and the turn names its archive. It may be called only between runs.
func (c *Chat) ageOutputs(aged []messages.AgedTurn) {
	changed := false
	for _, a := range aged {
		i := slices.IndexFunc(c.state.History, func(t journal.Turn) bool { return t.ID == a.ID })
		if i < 0 || c.NoArchive {
			continue
		}
		was := c.state.History[i]
		now := c.now()
		archive := fmt.Sprintf("%s-%d-aged", now.UTC().Format("20060102T150405.000Z"), was.Meta.Seq)
		m, ok := prompt.Aged(was.Message, archive)
		if !ok {
			continue
		}
		c.checkpoint()
		rewrite := journal.Rewrite{At: now, ArchiveID: archive, From: i, To: i + 1, Meta: c.meta()}
		rewrite.Insert = append(rewrite.Insert, m)
		c.compaction.size.Aged(i, a.Tokens)
		rewrite.Meta.Tokens = c.compaction.size.Kept(c.state.History)
		c.p.IfRefused = agingRefused{}
		c.rewrite(rewrite)
		changed = true
	}
	if !changed {
		return
	}
	c.trim = messages.Trim{}
	c.size.Recount()
	c.prefixBroken("aged_output")
	c.log(slog.LevelInfo, "large outputs of tools were archived", "turns", len(aged))
}
