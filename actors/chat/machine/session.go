package machine

import (
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// State returns the state that the chat's facts have built, or nil while the chat is not loaded. The caller must not
// change it.
func (c *Chat) State() *journal.State { return c.state }

// Reload replaces the state with the contents of the store and changes nothing else.
func (c *Chat) Reload(state *journal.State) { c.state = state }

// Rests reports whether the last plan was empty, which means that there is nothing left to decide.
func (c *Chat) Rests() bool { return c.rests }

// Close tells a chat that is not loaded that the host is stopping.
func (c *Chat) Close() { c.closing = true }

// KeepReceipts stores the receipts of a sent row while the chat is not loaded, so that they are not lost if loading
// fails.
func (c *Chat) KeepReceipts(msg messages.EgressDelivered) {
	put(&c.receipts, journal.RowKey(msg.Row), msg.Receipts)
}

// Waiting calls f for each message that the chat holds back, with its sender.
func (c *Chat) Waiting(f func(msg messages.ToChat, sender Ref)) {
	for _, h := range c.waits.list {
		f(h.msg, h.sender)
	}
}

// Watchers returns the watchers of the chat by the ids of their watches.
func (c *Chat) Watchers() map[string]Ref { return c.watchers }
