package chat

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

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
	pid *actor.PID // of the child under way; nil: none
	id  string
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
func (c *chat) remember(ac actor.Context) {
	m := &c.memory
	if c.Memory == nil || c.state == nil || c.closing {
		return
	}
	if c.MemoryGroups != "" && c.MemoryGroups != MemoryAuto && c.several() {
		return
	}
	if f := &c.compaction; f.pid != nil && f.id != m.compaction {
		m.compaction, m.frozen = f.id, c.foldTurns()
	}
	switch {
	case m.pid != nil:
	case m.frozen != nil:
		turns := m.frozen
		m.frozen = nil
		c.extract(ac, turns, true)
	case len(c.state.History) != m.seen:
		m.seen = len(c.state.History)
		if c.unread() >= max(m.wait, 1) {
			c.extract(ac, c.foldTurns(), false)
		}
	}
}

// unread are the turns that came since an extraction was looked for.
func (c *chat) unread() int {
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

func (c *chat) extract(ac actor.Context, turns []messages.FoldTurn, folds bool) {
	now := time.Now()
	msg := messages.ExtractMemory{
		ChatKey: c.key, ExtractionID: "m_" + newID(now), RequestID: "m_" + newID(now), Turns: turns, Folds: folds,
		Guidance: memorySection(c.Documents(c.key).Agent), Group: c.several(),
	}
	pid, err := ac.SpawnNamed(c.Memory(), "memory-"+msg.ExtractionID)
	if err != nil { // Unreachable: the name is new
		c.log.Error("spawn of a memory extraction failed", "error", err)
		return
	}
	c.memory.pid, c.memory.id = pid, msg.ExtractionID
	c.looked(c.MemoryTurns)
	ac.Request(pid, msg)
}

// looked: nothing more is looked for until that many turns have come.
func (c *chat) looked(wait int) {
	c.memory.wait = wait
	if n := len(c.state.History); n > 0 {
		c.memory.last = c.state.History[n-1].ID
	}
}

// onExtracted takes the child's answer. The facts are on the disk already.
func (c *chat) onExtracted(ac actor.Context, msg messages.MemoryExtracted) {
	m := &c.memory
	if m.pid == nil || m.id != msg.ExtractionID || !m.pid.Equal(ac.Sender()) {
		return
	}
	ac.Stop(m.pid)
	m.pid = nil
	c.Metrics.extracted(msg)
	if msg.Result != messages.ResultFailed {
		m.wait = max(c.MemoryTurns-msg.Left, 1)
	}
	if msg.Facts > 0 || msg.Dropped > 0 || msg.Condensed != "" {
		c.log.Info("facts of the chat were remembered", "facts", msg.Facts, "dropped", msg.Dropped, "condensed", msg.Condensed)
	}
	c.rested()
}

// memoryGone: the child ended without an answer.
func (c *chat) memoryGone(who *actor.PID) {
	if m := &c.memory; m.pid != nil && m.pid.Equal(who) {
		m.pid = nil
		c.Metrics.extracted(messages.MemoryExtracted{Result: messages.ResultFailed})
		c.rested()
	}
}

// rested lets a chat rest that only an extraction kept awake.
func (c *chat) rested() {
	if c.state != nil && c.state.Run == nil {
		c.restLater()
	}
}

// dropMemory ends the child. What it was about to take is for a later one.
func (c *chat) dropMemory(ac actor.Context) {
	if c.memory.pid != nil {
		ac.Stop(c.memory.pid)
	}
	c.memory = remembering{}
}

// several reports that more than one person writes, or may write, in the chat.
func (c *chat) several() bool {
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
func (c *chat) onePerson(id string) bool {
	return id != "" && !c.group() && !slices.ContainsFunc(c.state.History, func(t journal.Turn) bool {
		return t.Role == uimessage.RoleUser && t.Meta.UserID != "" && t.Meta.UserID != id
	})
}
