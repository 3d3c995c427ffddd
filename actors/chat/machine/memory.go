package machine

import (
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// MemoryGroups says what is remembered automatically in a chat of several people.
type MemoryGroups string

// Modes for chats of several people. The zero value means [MemoryAuto].
const (
	MemoryAuto MemoryGroups = "auto" // what members said, quoted, with who said it
	MemoryAsk  MemoryGroups = "ask"  // nothing; only a tool that asks a person may write
	MemoryOff  MemoryGroups = "off"  // nothing, and earlier statements are not used
)

// remembering is the state of memory extraction, which a child does on the history.
type remembering struct {
	child string // the name of the child in progress; empty if there is none
	id    string
	// last is the newest turn at the last extraction, and wait is how many turns must follow it before the next one.
	last string
	wait int
	// compaction is the last compaction for which an extraction was planned; frozen are its turns until the extraction
	// in progress has ended.
	compaction string
	frozen     []messages.FoldTurn
	seen       int // length of the history at the last check
}

// remember starts an extraction when enough turns have arrived or when a compaction has started. Neither waits for the
// extraction.
func (c *Chat) remember() {
	m := &c.memory
	if !c.Remembers || c.closing {
		return
	}
	if c.MemoryGroups != "" && c.MemoryGroups != MemoryAuto && c.several() {
		return
	}
	if f := &c.compaction; f.child != "" && f.id != m.compaction {
		m.compaction, m.frozen = f.id, c.foldTurns()
	}
	switch {
	case m.child != "":
	case m.frozen != nil:
		turns := m.frozen
		m.frozen = nil
		c.extract(turns, true)
	case len(c.state.History) != m.seen:
		m.seen = len(c.state.History)
		if c.unread() >= max(m.wait, 1) {
			c.extract(c.foldTurns(), false)
		}
	}
}

// unread counts the turns since the last extraction, at most MemoryTurns.
func (c *Chat) unread() int {
	n := 0
	for _, t := range slices.Backward(c.state.History) {
		if t.ID == c.memory.last || n >= c.MemoryTurns {
			return n
		}
		n++
	}
	if c.memory.last == "" && n < c.MemoryTurns {
		return 0 // too little for a first extraction
	}
	return n
}

func (c *Chat) extract(turns []messages.FoldTurn, folds bool) {
	msg := messages.ExtractMemory{
		ChatKey: c.key, ExtractionID: "m_" + c.newID(), RequestID: "m_" + c.newID(), Turns: turns, Folds: folds,
		Guidance: memorySection(c.Documents(c.key).Agent), Group: c.several(),
	}
	c.memory.child, c.memory.id = "memory-"+msg.ExtractionID, msg.ExtractionID
	c.waitForTurns(c.MemoryTurns)
	c.effect(Start{MemoryChild, c.memory.child, msg})
}

// waitForTurns records that the next extraction needs the given number of new turns.
func (c *Chat) waitForTurns(wait int) {
	c.memory.wait = wait
	if n := len(c.state.History); n > 0 {
		c.memory.last = c.state.History[n-1].ID
	}
}

// onExtracted handles the result of the child. The facts are already durable.
func (c *Chat) onExtracted(msg messages.MemoryExtracted) {
	m := &c.memory
	if m.child == "" || m.child != c.in.Child || m.id != msg.ExtractionID {
		return
	}
	c.effect(Stop{m.child})
	m.child = ""
	c.countExtraction(msg)
	if msg.Result != messages.ResultFailed {
		m.wait = max(c.MemoryTurns-msg.Left, 1)
	}
	if msg.Facts > 0 || msg.Dropped > 0 || msg.Condensed != "" {
		c.log(slog.LevelInfo, "facts of the chat were remembered", "facts", msg.Facts, "dropped", msg.Dropped, "condensed", msg.Condensed)
	}
}

// countExtraction reports an extraction to the metrics.
func (c *Chat) countExtraction(msg messages.MemoryExtracted) {
	c.count(CountExtraction, msg.Result)
	c.measure(CountFacts, float64(msg.Facts))
	c.measure(CountFactsDropped, float64(msg.Dropped))
	if msg.Condensed != "" {
		c.count(CountCondensed, msg.Condensed)
	}
}

// memoryGone handles a child that ended without a result.
func (c *Chat) memoryGone(child string) {
	if m := &c.memory; m.child != "" && m.child == child {
		m.child = ""
		c.countExtraction(messages.MemoryExtracted{Result: messages.ResultFailed})
	}
}

// dropMemory stops the child. A later extraction reads the same turns.
func (c *Chat) dropMemory() {
	if c.memory.child != "" {
		c.effect(Stop{c.memory.child})
	}
	c.memory = remembering{}
}

// several reports whether more than one person writes, or may write, in the chat.
func (c *Chat) several() bool {
	if c.group() {
		return true
	}
	i := slices.IndexFunc(c.state.History, func(t journal.Turn) bool { return t.Role == uimessage.RoleUser && t.Meta.UserID != "" })
	return i >= 0 && !c.onePerson(c.state.History[i].Meta.UserID)
}

// onePerson reports whether this person wrote all user turns of the chat.
func (c *Chat) onePerson(id string) bool {
	return id != "" && !c.group() && !slices.ContainsFunc(c.state.History, func(t journal.Turn) bool {
		return t.Role == uimessage.RoleUser && t.Meta.UserID != "" && t.Meta.UserID != id
	})
}
