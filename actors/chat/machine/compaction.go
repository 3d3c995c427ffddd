package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// maxTries is how many compactions without a gain a chat may make within triesFor.
	maxTries = 2
	triesFor = time.Hour
	// worthAgain is how many new turns must arrive before a history with nothing to compact is checked again.
	worthAgain = 4
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
	ready *readyFold          // nil if no summary is ready
	aged  []messages.AgedTurn // turns whose large outputs are to be archived
	// keptTries and keptTokens are the values for the meta file.
	keptTries  []int64
	keptTokens journal.TokenCounts
	size       length.Estimate
	stale      int // number of turns when there was nothing to compact
}

// readyFold is a summary that is applied when the run ends.
type readyFold struct {
	to      int
	hash    string
	summary uimessage.Message
	done    messages.CompactionFinished
	// shown is set if the run in progress already uses the summary.
	shown bool
}

// compactIfLong starts a compaction if the estimate exceeds the budget. The child then counts exactly.
func (c *Chat) compactIfLong() {
	if !c.Compacts || len(c.state.History) < c.compaction.stale+worthAgain || c.compaction.open(c.now()) >= maxTries {
		return
	}
	if c.compaction.size.Exceeds(c.MaxTokens, c.state.History, c.systemSoFar()) {
		c.compact(messages.CauseThreshold)
	}
}

// open returns the number of recent tries without a gain.
func (f *compacting) open(now time.Time) int {
	for len(f.tries) > 0 && now.Sub(time.UnixMilli(f.tries[0])) > triesFor {
		f.tries = f.tries[1:]
	}
	return len(f.tries)
}

// compact starts a compaction. It returns false if one is in progress or ready, or if the chat does not compact.
func (c *Chat) compact(cause messages.Cause) bool {
	f := &c.compaction
	if !c.Compacts || c.closing || f.child != "" || f.ready != nil {
		return false
	}
	now := c.now()
	msg := messages.Compact{
		ChatKey: c.key, CompactionID: "k_" + c.newID(), RequestID: "k_" + c.newID(), Cause: cause, System: c.system(),
		Memory: memorySection(c.Documents(c.key).Agent), Extract: cause == messages.CauseOverflow && f.open(c.now()) >= maxTries,
	}
	f.size.Bound(c.state.History, msg.System)
	msg.Turns, msg.SystemTokens, msg.Whole = c.foldTurns(), f.size.KnownSystem(), c.NoArchive
	msg.Reported, msg.Covers = f.size.Reported()
	f.child, f.id, f.cause, f.began, f.last = "compaction-"+msg.CompactionID, msg.CompactionID, cause, now, ""
	if n := len(msg.Turns); n > 0 {
		f.last = msg.Turns[n-1].Message.ID
	}
	c.effect(Start{CompactionChild, f.child, msg})
	return true
}

// foldTurns returns the history as input for a compaction. A message that the run in progress continues is marked as
// one that must stay.
func (c *Chat) foldTurns() []messages.FoldTurn {
	out := make([]messages.FoldTurn, len(c.state.History))
	for i, t := range c.state.History {
		out[i] = messages.FoldTurn{
			Message: t.Message, Ends: t.Ends(), Held: t.Held() || c.state.Run != nil && t.ID == c.state.Run.MessageID,
			Summary: t.Meta.Kind == uimessage.KindSummary, Tokens: c.compaction.size.Known(i, t),
		}
		if t.Meta.SourceRange != nil {
			out[i].Range = *t.Meta.SourceRange
		}
	}
	return out
}

// compactNow handles a person's command to compact.
func (c *Chat) compactNow() Compaction {
	switch {
	case !c.Compacts:
		return CompactionOff
	case c.compaction.child != "" || c.compaction.ready != nil:
		return CompactionUnderWay
	case len(c.state.History) <= c.KeepLast || !c.compact(messages.CauseCommand):
		return CompactionNothing
	}
	return CompactionUnderWay
}

// onCompacted handles the result of the child. The history may have grown since the child began.
func (c *Chat) onCompacted(msg messages.CompactionFinished) {
	f := &c.compaction
	if f.child == "" || f.child != c.in.Child || f.id != msg.CompactionID {
		return
	}
	c.effect(Stop{f.child})
	asked := f.asked
	f.child, f.asked = "", messages.ShortenInput{}
	if n := len(msg.Tokens); n > 0 && n <= len(c.state.History) && c.state.History[n-1].ID == f.last {
		f.size.Counted(msg.System, msg.Tokens)
		f.keptTokens = f.size.Kept(c.state.History)
	}
	f.aged = msg.Aged
	if msg.Summary == "" {
		c.notCompacted(msg.Result, len(msg.Tokens))
	} else {
		f.ready = c.readyFold(msg)
	}
	c.answerShorten(asked)
	c.grew = len(c.state.History) > len(msg.Tokens) // there are turns that the child did not see
}

// notCompacted records the result of a compaction that replaced no turns.
func (c *Chat) notCompacted(result string, turns int) {
	f := &c.compaction
	c.countCompaction(result)
	switch result {
	case messages.ResultAged:
	case messages.ResultEnough:
		c.keepMeta()
	case messages.ResultNothing:
		f.stale = turns
		c.keepMeta()
	case resultUnwritten:
		f.tries = append(f.tries, c.now().UnixMilli())
	default:
		f.tries = append(f.tries, c.now().UnixMilli())
		f.keptTries = slices.Clone(f.tries)
		c.keepMeta()
	}
}

// countCompaction reports the finished compaction to the metrics.
func (c *Chat) countCompaction(result string) {
	c.effect(Count{What: CountCompaction, Label: result, Cause: c.compaction.cause, Value: c.ago(c.compaction.began).Seconds()})
}

// keepMeta saves the tries and the token counts of a compaction that changed nothing. During a run this is left to the
// end of the run.
func (c *Chat) keepMeta() {
	if c.state.Run != nil {
		return
	}
	c.saveMeta()
}

// readyFold builds the turn of the summary.
func (c *Chat) readyFold(msg messages.CompactionFinished) *readyFold {
	meta := c.plainMeta()
	meta.Kind, meta.Source, meta.SourceRange, meta.RequestID = uimessage.KindSummary, uimessage.SourceCompact, &msg.Range, msg.CompactionID
	meta.Tokens = int64(msg.SummaryTokens)
	return &readyFold{to: msg.To, hash: msg.Hash, done: msg, summary: uimessage.Message{
		ID: "a:" + string(c.key) + ":" + c.newID(), Role: uimessage.RoleAssistant,
		Parts: []uimessage.Part{uimessage.Text{Text: msg.Summary}}, Metadata: meta.Append(nil),
	}}
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
		c.effect(Stop{f.child})
		f.child, f.asked = "", messages.ShortenInput{}
	}
	c.answerShorten(asked)
}

// memorySection returns the section of Agent.md whose heading mentions memory.
func memorySection(agent string) string {
	var out []string
	level := 0
	for line := range strings.Lines(agent) {
		if n := headingLevel(line); n > 0 {
			switch title := strings.ToLower(line); {
			case level > 0 && n <= level:
				return strings.TrimSpace(strings.Join(out, ""))
			case level == 0 && (strings.Contains(title, "memory") || strings.Contains(title, "记忆")):
				level = n
				continue
			}
		}
		if level > 0 {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, ""))
}

func headingLevel(line string) int {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n == len(line) || line[n] != ' ' {
		return 0
	}
	return n
}
