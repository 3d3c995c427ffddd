package machine

import (
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// mark shows people what became of a message of theirs, where that is wanted. Marks
// are no facts: nobody misses one that is lost.
func (c *Chat) mark(turn journal.Turn, as messages.Mark) {
	if !c.via.Reactions || c.via.Ref == nil || turn.Meta.MessageID == "" {
		return
	}
	put(&c.marked, turn.ID, turn.Meta.MessageID)
	c.send(c.via.Ref, messages.ShowMark{ChatKey: c.key, ChatType: c.chatType, MessageID: turn.Meta.MessageID, Mark: as})
}

// markMerged shows that the run under way has turns that waited.
func (c *Chat) markMerged(ids []string) {
	for _, id := range ids {
		if t, ok := c.state.Turn(id); ok {
			c.mark(t, messages.MarkMerged)
		}
	}
}

// unmark takes the marks of turns away that have their fate.
func (c *Chat) unmark(fates []journal.Settled) {
	if !c.via.Reactions {
		return
	}
	for _, f := range fates {
		if t, ok := c.state.Turn(f.TurnID); ok && c.marked[f.TurnID] == "" {
			c.mark(t, messages.MarkNone) // it was marked before a restart
			delete(c.marked, f.TurnID)
		}
		c.unmarkTurn(f.TurnID)
	}
}

// unmarkTurn takes the mark of a turn away, if it has one.
func (c *Chat) unmarkTurn(id string) {
	message, ok := c.marked[id]
	if !ok {
		return
	}
	delete(c.marked, id)
	c.send(c.via.Ref, messages.ShowMark{ChatKey: c.key, ChatType: c.chatType, MessageID: message, Mark: messages.MarkNone})
}
