package machine

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

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
	c.size.turns, c.size.bytes = 0, 0
	c.prefixBroken("aged_output")
	c.log(slog.LevelInfo, "large outputs of tools were archived", "turns", len(aged))
}
