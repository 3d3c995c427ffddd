package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// maxTries is how many compactions without a gain a chat makes within triesFor.
	maxTries = 2
	triesFor = time.Hour
	// worthAgain is how many turns have to come before a history in which there was
	// nothing to fold is looked at again.
	worthAgain = 4
	// Results of the chat's own: a summary came too late, or could not be written.
	resultChanged, resultUnwritten = "changed", "unwritten"
)

// compacting is what a chat knows of its compaction and of how long it is.
type compacting struct {
	child string // the name of the child in progress; empty if there is none
	id    string
	cause messages.Cause
	began time.Time
	last  string                // the newest turn that it was given
	asked messages.ShortenInput // of the run that waits for it; zero: none does
	// tries without a gain, in Unix milliseconds, the oldest first. They outlive the
	// state, and a state brings those of earlier activations, so that no chat tries
	// again and again because it is read again and again.
	tries []int64
	ready *readyFold          // nil: there is none to apply
	aged  []messages.AgedTurn // whose large outputs are to be left out
	// keptTries and keptTokens are what the meta file says of tries and size.
	keptTries  []int64
	keptTokens journal.TokenCounts
	size       estimate
	stale      int // turns of the history in which there was nothing to fold
}

// readyFold is a summary that waits for the end of the run.
type readyFold struct {
	to      int
	hash    string
	summary uimessage.Message
	done    messages.CompactionFinished
	// shown: the run sees the summary already.
	shown bool
}

// compactIfLong begins a compaction when the chat may be too long. Whether it is
// turns out when the child has counted.
func (c *Chat) compactIfLong() {
	if !c.Compacts || len(c.state.History) < c.compaction.stale+worthAgain || c.compaction.open(c.now()) >= maxTries {
		return
	}
	if size := &c.compaction.size; size.tokens(c.state.History, c.systemSoFar()) > tokens.Budget(c.MaxTokens, size.system) {
		c.compact(messages.CauseThreshold)
	}
}

// open is how many tries without a gain there were of late.
func (f *compacting) open(now time.Time) int {
	for len(f.tries) > 0 && now.Sub(time.UnixMilli(f.tries[0])) > triesFor {
		f.tries = f.tries[1:]
	}
	return len(f.tries)
}

// compact begins a compaction unless there is one; false: it cannot.
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
	f.size.bound(c.state.History, msg.System)
	msg.Turns, msg.SystemTokens, msg.Whole = c.foldTurns(), f.size.knownSystem(), c.NoArchive
	msg.Reported, msg.Covers = f.size.reported, f.size.covers
	f.child, f.id, f.cause, f.began, f.last = "compaction-"+msg.CompactionID, msg.CompactionID, cause, now, ""
	if n := len(msg.Turns); n > 0 {
		f.last = msg.Turns[n-1].Message.ID
	}
	c.effect(Start{CompactionChild, f.child, msg})
	return true
}

// foldTurns is the history as a compaction sees it. A message that the run under
// way continues has to stay.
func (c *Chat) foldTurns() []messages.FoldTurn {
	out := make([]messages.FoldTurn, len(c.state.History))
	for i, t := range c.state.History {
		out[i] = messages.FoldTurn{
			Message: t.Message, Ends: t.Ends(), Held: t.Held() || c.state.Run != nil && t.ID == c.state.Run.MessageID,
			Summary: t.Meta.Kind == uimessage.KindSummary, Tokens: c.compaction.size.known(i, t),
		}
		if t.Meta.SourceRange != nil {
			out[i].Range = *t.Meta.SourceRange
		}
	}
	return out
}

// compactNow is a person's order.
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

// onCompacted takes what the child made. The history has gone on meanwhile.
func (c *Chat) onCompacted(msg messages.CompactionFinished) {
	f := &c.compaction
	if f.child == "" || f.child != c.in.Child || f.id != msg.CompactionID {
		return
	}
	c.effect(Stop{f.child})
	asked := f.asked
	f.child, f.asked = "", messages.ShortenInput{}
	if n := len(msg.Tokens); n > 0 && n <= len(c.state.History) && c.state.History[n-1].ID == f.last {
		f.size.counted(msg.System, msg.Tokens)
		f.keptTokens = f.size.kept(c.state.History)
	}
	f.aged = msg.Aged
	if msg.Summary == "" {
		c.notCompacted(msg.Result, len(msg.Tokens))
	} else {
		f.ready = c.readyFold(msg)
	}
	c.answerShorten(asked)
	c.grew = len(c.state.History) > len(msg.Tokens) // turns that it has not looked at
}

// notCompacted counts a compaction that changed nothing of the turns that it saw.
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

// countCompaction counts the compaction that has ended.
func (c *Chat) countCompaction(result string) {
	c.effect(Count{What: CountCompaction, Label: result, Cause: c.compaction.cause, Value: c.ago(c.compaction.began).Seconds()})
}

// keepMeta makes durable what came of a compaction that changed nothing: the tries that
// count against the next ones, and what turns were counted as. During a run they are at
// its end.
func (c *Chat) keepMeta() {
	if c.state.Run != nil {
		return
	}
	c.saveMeta()
}

// readyFold makes the summary's turn.
func (c *Chat) readyFold(msg messages.CompactionFinished) *readyFold {
	meta := c.plainMeta()
	meta.Kind, meta.Source, meta.SourceRange, meta.RequestID = uimessage.KindSummary, uimessage.SourceCompact, &msg.Range, msg.CompactionID
	meta.Tokens = int64(msg.SummaryTokens)
	return &readyFold{to: msg.To, hash: msg.Hash, done: msg, summary: uimessage.Message{
		ID: "a:" + string(c.key) + ":" + c.newID(), Role: uimessage.RoleAssistant,
		Parts: []uimessage.Part{uimessage.Text{Text: msg.Summary}}, Metadata: meta.Append(nil),
	}}
}

// compactionGone: the child ended without an answer.
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

// dropCompaction ends the child. A run that waits for it goes on without.
func (c *Chat) dropCompaction() {
	f := &c.compaction
	asked := f.asked
	if f.child != "" {
		c.effect(Stop{f.child})
		f.child, f.asked = "", messages.ShortenInput{}
	}
	c.answerShorten(asked)
}

// memorySection is what Agent.md says under its heading of memory.
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
