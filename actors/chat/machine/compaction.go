package machine

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// maxTries is how many compactions without a gain a chat may make within triesFor.
	maxTries = 2
	triesFor = time.Hour
	// turnsBeforeRecheck is how many new turns must arrive before a history with nothing to compact is checked again.
	turnsBeforeRecheck = 4
	// Further results, set by the chat: the history changed before the summary was ready, or the summary could not be
	// written.
	resultChanged, resultUnwritten = "changed", "unwritten"
)

// compacting is what a chat knows about its compaction and about its own size.
type compacting struct {
	child string // the name of the child in progress; empty if there is none
	id    string
	cause messages.Cause
	began time.Time
	last  string                // the newest turn in the child's input
	asked messages.ShortenInput // the request of a run that waits for the compaction; zero if none waits
	// tries are the times of recent compactions without a gain, in Unix milliseconds, oldest first. They survive
	// reloads of the state and, through the meta file, restarts, so that loading a chat again allows no more tries.
	tries []int64
	ready *readySummary       // nil if no summary is ready
	aged  []messages.AgedTurn // turns whose large outputs are to be archived
	size  length.Estimate
	stale int // number of turns when there was nothing to compact
}

// compactIfLong starts a compaction if the estimate exceeds the budget. The child then counts exactly.
func (c *Chat) compactIfLong() {
	if !c.Compacts || len(c.State.History) < c.compaction.stale+turnsBeforeRecheck || c.compaction.open(c.Now()) >= maxTries {
		return
	}
	if c.compaction.size.Exceeds(c.MaxTokens, c.State.History, c.system.Last()) {
		c.compact(messages.CauseThreshold)
	}
}

// open returns the number of recent tries without a gain. Tries later than now,
// which a clock that was ahead has recorded, do not count.
func (f *compacting) open(now time.Time) int {
	f.tries = slices.DeleteFunc(slices.Clone(f.tries), func(at int64) bool {
		ago := now.Sub(time.UnixMilli(at))
		return ago > triesFor || ago < 0
	})
	return len(f.tries)
}

// running returns the id of the compaction in progress, or empty.
func (f *compacting) running() string {
	if f.child == "" {
		return ""
	}
	return f.id
}

// compact starts a compaction. It returns false if one is in progress or ready, or if the chat does not compact.
func (c *Chat) compact(cause messages.Cause) bool {
	f := &c.compaction
	if !c.Compacts || c.Closing || f.child != "" || f.ready != nil {
		return false
	}
	now := c.Now()
	msg := messages.Compact{
		ChatKey: c.Key, CompactionID: "k_" + c.NewID(), RequestID: "k_" + c.NewID(), Cause: cause, System: c.system.Text(),
		Memory: decision.MemorySection(c.Documents(c.Key).Agent), Extract: cause == messages.CauseOverflow && f.open(c.Now()) >= maxTries,
	}
	f.size.Bound(c.State.History, msg.System)
	msg.Turns, msg.SystemTokens, msg.Whole = c.compactTurns(), f.size.KnownSystem(), c.NoArchive
	msg.Reported, msg.Covers = f.size.Reported()
	f.child, f.id, f.cause, f.began, f.last = "compaction-"+msg.CompactionID, msg.CompactionID, cause, now, ""
	if n := len(msg.Turns); n > 0 {
		f.last = msg.Turns[n-1].Message.ID
	}
	c.Effect(decision.Start{Child: decision.CompactionChild, Name: f.child, Msg: msg})
	return true
}

// compactTurns returns the history as input for a compaction. A message that the run in progress continues is marked as
// one that must stay.
func (c *Chat) compactTurns() []messages.CompactTurn {
	out := make([]messages.CompactTurn, len(c.State.History))
	for i, t := range c.State.History {
		out[i] = messages.CompactTurn{
			Message: t.Message, Ends: t.Ends(), Waits: t.Waits() || c.State.Run != nil && t.ID == c.State.Run.MessageID,
			Summary: t.Meta.Kind == uimessage.KindSummary, Tokens: c.compaction.size.Known(i, t),
		}
		if t.Meta.SourceRange != nil {
			out[i].Range = *t.Meta.SourceRange
		}
	}
	return out
}

// compactNow handles a person's command to compact.
func (c *Chat) compactNow() decision.Compaction {
	switch {
	case !c.Compacts:
		return decision.CompactionOff
	case c.compaction.child != "" || c.compaction.ready != nil:
		return decision.CompactionUnderWay
	case len(c.State.History) <= c.KeepLast || !c.compact(messages.CauseCommand):
		return decision.CompactionNothing
	}
	return decision.CompactionUnderWay
}

// notCompacted records the result of a compaction that replaced no turns.
func (c *Chat) notCompacted(result string, turns int) {
	f := &c.compaction
	c.memory.NotCompacted()
	c.countCompaction(result)
	switch result {
	case messages.ResultAged:
	case messages.ResultEnough:
		c.keepMeta()
	case messages.ResultNothing:
		f.stale = turns
		c.keepMeta()
	case resultUnwritten:
		f.tries = append(f.tries, c.Now().UnixMilli())
	default:
		f.tries = append(f.tries, c.Now().UnixMilli())
		c.KeptTries = slices.Clone(f.tries)
		c.keepMeta()
	}
}

// countCompaction reports the finished compaction to the metrics.
func (c *Chat) countCompaction(result string) {
	c.Effect(decision.Count{What: decision.CountCompaction, Label: result, Cause: c.compaction.cause, Value: c.Ago(c.compaction.began).Seconds()})
}

// keepMeta saves the tries and the token counts of a compaction that changed nothing. During a run this is left to the
// end of the run.
func (c *Chat) keepMeta() {
	if c.State.Run != nil {
		return
	}
	c.SaveMeta()
}
