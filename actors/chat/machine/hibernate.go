package machine

// Hibernated returns a function that makes the chat again, without its state: it must be loaded next. The function holds
// only what the state does not contain, which takes a quarter of the memory of a chat.
func (c *Chat) Hibernated() func() *Chat {
	o, key, spares := c.Options, c.Key, c.spares
	chatType, title, receipts, marked := c.ChatType, c.Title, c.Receipts, c.Marked
	pages, quoted, extracted, begins := c.paging, c.quoted, c.memory.Left(), c.system.Begins
	pages.Base, quoted.Base, extracted.Base = nil, nil, nil // they are parts of the chat
	trim, cheaper, flooded, fetched := c.trim, c.cheaper, c.flooded, c.files.Left()
	tries, stale := c.compaction.tries, c.compaction.stale
	return func() *Chat {
		w := New(o, key, spares)
		w.ChatType, w.Title, w.Receipts, w.Marked = chatType, title, receipts, marked
		w.paging, w.quoted, w.memory, w.system.Begins = pages, quoted, extracted, begins
		w.trim, w.cheaper, w.flooded, w.files = trim, cheaper, flooded, fetched
		w.compaction.tries, w.compaction.stale = tries, stale
		w.attach()
		return w
	}
}
