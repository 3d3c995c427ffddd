package router

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// restAtLeast is how long a chat must have been unused before it is asked to stop because of the
// ceiling. Chats that have nothing to do hibernate by themselves a little later, and then hold next to nothing.
const restAtLeast = time.Second

// ceiling decides which shard stops its least recently used chat when the host is over its limits.
// It is pure.
type ceiling struct {
	maxChats int   // 0 means no limit
	maxBytes int64 // 0 means no limit

	shards [Shards]shardLoad
	chats  int
	bytes  int64
	away   int // chats that are asked to stop
}

// shardLoad is a shard's newest report and the newest order to it.
type shardLoad struct {
	load messages.ShardLoad
	// asked is set while an order is pending; seq is the number of the newest one.
	asked bool
	seq   uint64
}

// report records a shard's report.
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

// over reports whether the host would still be over its limits after the chats that were asked to
// stop have stopped; each of those counts with the average size.
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

// pick chooses the shard with the host's least recently used chat, and makes the order for it. The
// order does not apply to a chat used after the runner-up, so that an outdated report leads to a
// new report and not to the wrong chat.
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
