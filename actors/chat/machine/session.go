package machine

import (
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// State is what the facts of the chat have made; nil while it is not loaded. It belongs to
// the chat.
func (c *Chat) State() *journal.State { return c.state }

// Reload replaces the state by what the store holds, and leaves all else as it is.
func (c *Chat) Reload(state *journal.State) { c.state = state }

// Rests reports whether the last decision was the empty plan: nothing is left to decide.
func (c *Chat) Rests() bool { return c.rests }

// Close says that the host stops, while the chat is not loaded.
func (c *Chat) Close() { c.closing = true }

// KeepReceipts keeps the receipts of a row that was sent while the chat is not loaded: they
// count whatever becomes of the load.
func (c *Chat) KeepReceipts(msg messages.EgressDelivered) {
	put(&c.receipts, rowKey(msg.Row), msg.Receipts)
}

// Waiting calls f for each message that the chat keeps back, with who sent it.
func (c *Chat) Waiting(f func(msg messages.ToChat, sender Ref)) {
	for _, h := range c.waits.list {
		f(h.msg, h.sender)
	}
}

// Watchers are those who follow the chat live, by the ids of their watches.
func (c *Chat) Watchers() map[string]Ref { return c.watchers }
