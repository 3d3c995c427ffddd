package machine

import (
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// mark shows the state of a person's message as a reaction, where this is enabled. Reactions are not journaled; losing
// one is harmless.
func (c *Chat) mark(turn journal.Turn, as messages.Mark) {
	if !c.via.Reactions || c.via.Ref == nil || turn.Meta.MessageID == "" {
		return
	}
	put(&c.marked, turn.ID, turn.Meta.MessageID)
	c.send(c.via.Ref, messages.ShowMark{ChatKey: c.key, ChatType: c.chatType, MessageID: turn.Meta.MessageID, Mark: as})
}

// markMerged shows that queued turns were merged into the run in progress.
func (c *Chat) markMerged(ids []string) {
	for _, id := range ids {
		if t, ok := c.state.Turn(id); ok {
			c.mark(t, messages.MarkMerged)
		}
	}
}

// unmark removes the marks of settled turns.
func (c *Chat) unmark(fates []journal.Settled) {
	if !c.via.Reactions {
		return
	}
	for _, f := range fates {
		if t, ok := c.state.Turn(f.TurnID); ok && c.marked[f.TurnID] == "" {
			c.mark(t, messages.MarkNone) // it may have been marked before a restart
			delete(c.marked, f.TurnID)
		}
		c.unmarkTurn(f.TurnID)
	}
}

// unmarkTurn removes the mark of a turn, if it has one.
func (c *Chat) unmarkTurn(id string) {
	message, ok := c.marked[id]
	if !ok {
		return
	}
	delete(c.marked, id)
	c.send(c.via.Ref, messages.ShowMark{ChatKey: c.key, ChatType: c.chatType, MessageID: message, Mark: messages.MarkNone})
}
