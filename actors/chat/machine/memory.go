package machine

import (
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// MemoryGroups says what the memory of a chat of several people takes by itself.
type MemoryGroups string

// The ways of groups. The empty one is [MemoryAuto].
const (
	MemoryAuto MemoryGroups = "auto" // what members said, quoted, with who said it
	MemoryAsk  MemoryGroups = "ask"  // nothing: only a tool that asks a person writes
	MemoryOff  MemoryGroups = "off"  // nothing, and what was taken before is not read
)

// remembering is what a chat knows of its extraction: the child that takes facts
// from the history.
type remembering struct {
	child string // the name of the child in progress; empty if there is none
	id    string
	// last is the newest turn when an extraction was looked for, and wait how many turns
	// have to come behind it.
	last string
	wait int
	// compaction is the newest one whose turns an extraction was to see; frozen are those
	// turns while the extraction before is under way.
	compaction string
	frozen     []messages.FoldTurn
	seen       int // turns of the history when it was last looked at
}

// remember begins an extraction when enough turns came, or when a compaction has
// begun to fold some. Neither waits for it.
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

// unread are the turns that came since an extraction was looked for.
func (c *Chat) unread() int {
	n := 0
	for _, t := range slices.Backward(c.state.History) {
		if t.ID == c.memory.last || n >= c.MemoryTurns {
			return n
		}
		n++
	}
	if c.memory.last == "" && n < c.MemoryTurns {
		return 0 // nothing was taken yet, and there is too little
	}
	return n
}

func (c *Chat) extract(turns []messages.FoldTurn, folds bool) {
	msg := messages.ExtractMemory{
		ChatKey: c.key, ExtractionID: "m_" + c.newID(), RequestID: "m_" + c.newID(), Turns: turns, Folds: folds,
		Guidance: memorySection(c.Documents(c.key).Agent), Group: c.several(),
	}
	c.memory.child, c.memory.id = "memory-"+msg.ExtractionID, msg.ExtractionID
	c.looked(c.MemoryTurns)
	c.effect(Start{MemoryChild, c.memory.child, msg})
}

// looked: nothing more is looked for until that many turns have come.
func (c *Chat) looked(wait int) {
	c.memory.wait = wait
	if n := len(c.state.History); n > 0 {
		c.memory.last = c.state.History[n-1].ID
	}
}

// onExtracted takes the child's answer. The facts are on the disk already.
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

// countExtraction counts what an extraction came to.
func (c *Chat) countExtraction(msg messages.MemoryExtracted) {
	c.count(CountExtraction, msg.Result)
	c.measure(CountFacts, float64(msg.Facts))
	c.measure(CountFactsDropped, float64(msg.Dropped))
	if msg.Condensed != "" {
		c.count(CountCondensed, msg.Condensed)
	}
}

// memoryGone: the child ended without an answer.
func (c *Chat) memoryGone(child string) {
	if m := &c.memory; m.child != "" && m.child == child {
		m.child = ""
		c.countExtraction(messages.MemoryExtracted{Result: messages.ResultFailed})
	}
}

// dropMemory ends the child. What it was about to take is for a later one.
func (c *Chat) dropMemory() {
	if c.memory.child != "" {
		c.effect(Stop{c.memory.child})
	}
	c.memory = remembering{}
}

// several reports that more than one person writes, or may write, in the chat.
func (c *Chat) several() bool {
	if c.group() {
		return true
	}
	first := ""
	return slices.ContainsFunc(c.state.History, func(t journal.Turn) bool {
		if t.Role != uimessage.RoleUser || t.Meta.UserID == "" {
			return false
		}
		if first == "" {
			first = t.Meta.UserID
		}
		return t.Meta.UserID != first
	})
}

// onePerson reports that nobody but this person wrote what the chat holds.
func (c *Chat) onePerson(id string) bool {
	return id != "" && !c.group() && !slices.ContainsFunc(c.state.History, func(t journal.Turn) bool {
		return t.Role == uimessage.RoleUser && t.Meta.UserID != "" && t.Meta.UserID != id
	})
}
