package router

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// restAtLeast is how long a chat must have been unused to be asked to leave
// because the host holds too much.
const restAtLeast = 5 * time.Second

// ceiling decides which shard puts its longest unused chat to rest when the
// host holds too much. It is pure.
type ceiling struct {
	maxChats int   // 0: none
	maxBytes int64 // 0: none

	shards [Shards]held
	chats  int
	bytes  int64
	away   int // chats that are asked to leave
}

// held is a shard's newest report, and what it was asked last.
type held struct {
	load messages.ShardLoad
	// asked is set while a shed is under way; seq is the newest one's number.
	asked bool
	seq   uint64
}

// report takes a shard's report in.
func (c *ceiling) report(n int, load messages.ShardLoad) {
	h := &c.shards[n]
	c.chats += load.Chats - h.load.Chats
	c.bytes += load.Bytes - h.load.Bytes
	h.load = load
	if h.asked && load.Shed == h.seq && !load.Shedding {
		h.asked = false
		c.away--
	}
}

// over reports whether the host holds too much, once those asked to leave have
// left; a chat that leaves counts as one of middling size.
func (c *ceiling) over() (over, memory bool) {
	if c.maxChats > 0 && c.chats-c.away > c.maxChats {
		return true, false
	}
	if c.maxBytes <= 0 || c.chats == 0 {
		return false, false
	}
	leaving := c.bytes / int64(c.chats) * int64(c.away)
	return c.bytes-leaving > c.maxBytes, true
}

// pick chooses the shard whose longest unused chat is the host's, and makes the
// order for it. The chat must not have been used after the runner-up, so that an
// old report leads to a fresh one and not to the wrong chat.
func (c *ceiling) pick(now time.Time) (n int, order messages.Shed, ok bool) {
	over, memory := c.over()
	if !over {
		return 0, messages.Shed{}, false
	}
	best := -1
	limit := now.Add(-restAtLeast)
	for i := range c.shards {
		h := &c.shards[i]
		switch {
		case h.asked || h.load.Oldest.IsZero() || h.load.Oldest.After(limit):
		case best < 0:
			best = i
		case h.load.Oldest.Before(c.shards[best].load.Oldest):
			limit, best = c.shards[best].load.Oldest, i
		default:
			limit = h.load.Oldest
		}
	}
	if best < 0 {
		return 0, messages.Shed{}, false
	}
	h := &c.shards[best]
	h.seq++
	h.asked = true
	c.away++
	return best, messages.Shed{Seq: h.seq, NotAfter: limit, Memory: memory}, true
}
