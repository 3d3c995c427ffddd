package machine

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
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
		c.CopyState()
		ready := f.ready
		f.ready = nil
		c.putSummary(ready)
	case f.aged != nil:
		c.CopyState()
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
func (c *Chat) putSummary(ready *readySummary) {
	if !c.fits(ready) {
		c.notCompacted(resultChanged, 0)
		return
	}
	c.Checkpoint()
	size := c.compaction.size.Compacted(ready.to, ready.done.SummaryTokens)
	now := c.Now()
	rewrite := journal.Rewrite{At: now, To: ready.to, Meta: c.Meta()}
	rewrite.Meta.Cursor, rewrite.Meta.Tries = "", nil
	rewrite.Meta.Pinned = c.system.Needed(decision.ContentsOf(c.State.History[ready.to:]))
	if !c.NoArchive {
		first, last := c.State.History[0].Meta.Seq, c.State.History[ready.to-1].Meta.Seq
		rewrite.ArchiveID = fmt.Sprintf("%s-%d-%d", now.UTC().Format("20060102T150405.000Z"), first, last)
		rewrite.Meta.Cursor = rewrite.ArchiveID
		ready.summary = named(ready.summary, rewrite.ArchiveID)
	}
	rewrite.Insert = []uimessage.Message{ready.summary}
	rewrite.Meta.Tokens = size.Kept(append([]journal.Turn{{Message: ready.summary}}, c.State.History[ready.to:]...))
	c.Plan.IfRefused = compactionRefused{}
	c.Rewrite(rewrite)
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

// compacted resets what depended on the old history and reports the compaction.
func (c *Chat) compacted(ready *readySummary) {
	f := &c.compaction
	if !ready.shown {
		// What requests leave out is given by positions, which have changed.
		c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
		c.PrefixBroken("compaction")
	}
	f.stale, f.tries = 0, nil
	c.size.Recount()
	c.EventFrame("compaction", 0, "")
	c.countCompaction(ready.done.Result)
	c.Measure(decision.CountTokensBefore, float64(ready.done.Before))
	c.Measure(decision.CountTokensAfter, float64(ready.done.After))
	c.Log(slog.LevelInfo, "the chat was compacted", "cause", string(f.cause), "result", ready.done.Result, "turns", ready.to,
		"tokens_before", ready.done.Before, "tokens_after", ready.done.After)
}

// ageOutputs removes large tool outputs from turns that stay in the history but are too large. Each original turn is
// archived, and the turn names its archive. It may be called only between runs.
func (c *Chat) ageOutputs(aged []messages.AgedTurn) {
	changed := false
	for k, a := range aged {
		i := slices.IndexFunc(c.State.History, func(t journal.Turn) bool { return t.ID == a.ID })
		if i < 0 || c.NoArchive {
			continue
		}
		was := c.State.History[i]
		now := c.Now().Add(time.Duration(k) * time.Millisecond) // messages of one run may have the same number
		archive := fmt.Sprintf("%s-%d-aged", now.UTC().Format("20060102T150405.000Z"), was.Meta.Seq)
		m, ok := prompt.Aged(was.Message, archive)
		if !ok {
			continue
		}
		c.Checkpoint()
		rewrite := journal.Rewrite{At: now, ArchiveID: archive, From: i, To: i + 1, Meta: c.Meta()}
		rewrite.Insert = append(rewrite.Insert, m)
		c.compaction.size.Aged(i, a.Tokens)
		rewrite.Meta.Tokens = c.compaction.size.Kept(c.State.History)
		c.Plan.IfRefused = agingRefused{}
		c.Rewrite(rewrite)
		changed = true
	}
	if !changed {
		return
	}
	c.trim = messages.Trim{}
	c.size.Recount()
	c.PrefixBroken("aged_output")
	c.Log(slog.LevelInfo, "large outputs of tools were archived", "turns", len(aged))
}
