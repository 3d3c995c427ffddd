package router

import (
	"container/list"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/messages"
)

// population is the chats under a ceiling, in a test: each shard's in the order of use.
type population struct {
	now    time.Time
	shards [Shards]list.List // of time.Time, the least recently used first
	shed   [Shards]uint64
	chats  int
}

func (p *population) load(n int) messages.ShardLoad {
	l := messages.ShardLoad{Chats: p.shards[n].Len(), Bytes: int64(p.shards[n].Len()) * 1000, Shed: p.shed[n]}
	if first := p.shards[n].Front(); first != nil {
		l.Oldest, _ = first.Value.(time.Time)
	}
	return l
}

// use adds a new chat or uses an old one.
func (p *population) use(n int, again bool) {
	p.now = p.now.Add(time.Millisecond)
	if again && p.shards[n].Len() > 0 {
		p.shards[n].Remove(p.shards[n].Front())
		p.chats--
	}
	p.shards[n].PushBack(p.now)
	p.chats++
}

// oldest returns the least recently used chat of all.
func (p *population) oldest() time.Time {
	var out time.Time
	for i := range p.shards {
		if first := p.shards[i].Front(); first != nil {
			if at, _ := first.Value.(time.Time); out.IsZero() || at.Before(out) {
				out = at
			}
		}
	}
	return out
}

// carryOut does what a shard does with an order; it reports whether a chat stopped.
func (p *population) carryOut(n int, order messages.Shed) bool {
	p.shed[n] = order.Seq
	if at := p.load(n).Oldest; at.IsZero() || at.After(order.NotAfter) {
		return false
	}
	p.shards[n].Remove(p.shards[n].Front())
	p.chats--
	return true
}

// The chats that stop are the least recently used of the host, although the router only learns of
// uses now and then; no more stop than necessary.
func TestCeilingTakesTheLongestUnused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := population{now: time.Unix(1e9, 0)}
		c := ceiling{maxChats: rapid.IntRange(1, 60).Draw(t, "ceiling")}
		for range rapid.IntRange(1, 200).Draw(t, "uses") {
			n := rapid.IntRange(0, 20).Draw(t, "shard")
			again := rapid.Bool().Draw(t, "again")
			p.use(n, again)
			if !again || rapid.Bool().Draw(t, "heard") {
				c.report(n, p.load(n))
			}
		}
		for i := range p.shards {
			if c.shards[i].load.Chats != p.shards[i].Len() {
				c.report(i, p.load(i))
			}
		}
		p.now = p.now.Add(time.Hour)
		for orders := 0; ; orders++ {
			n, order, ok := c.pick(p.now)
			if !ok {
				break
			}
			before := p.oldest()
			left := p.carryOut(n, order)
			if left && p.oldest().Equal(before) {
				t.Fatalf("a chat left that was not the longest unused")
			}
			c.report(n, p.load(n))
			if orders > 1000 {
				t.Fatal("orders without end")
			}
		}
		if want := min(c.chats, c.maxChats); p.chats != c.chats || p.chats > c.maxChats || c.away != 0 {
			t.Fatalf("%d chats left (%d by the reports, %d asked), want %d", p.chats, c.chats, c.away, want)
		}
	})
}

func TestCeilingLeavesChatsInUse(t *testing.T) {
	p := population{now: time.Unix(1e9, 0)}
	c := ceiling{maxChats: 1}
	for n := range 4 {
		p.use(n, false)
		c.report(n, p.load(n))
	}
	if _, _, ok := c.pick(p.now.Add(restAtLeast / 2)); ok {
		t.Error("a chat used just now was asked to leave")
	}
	orders := 0
	for {
		n, order, ok := c.pick(p.now.Add(2 * restAtLeast))
		if !ok {
			break
		}
		orders++
		// The chat is asked and has not answered: it counts as stopped.
		c.report(n, messages.ShardLoad{Chats: 1, Bytes: 1000, Shed: order.Seq, Shedding: true})
	}
	if orders != 3 {
		t.Errorf("%d chats asked to leave, want 3", orders)
	}
}

func TestCeilingByMemory(t *testing.T) {
	p := population{now: time.Unix(1e9, 0)}
	c := ceiling{maxBytes: 2500}
	for n := range 5 {
		p.use(n, false)
		c.report(n, p.load(n))
	}
	for {
		n, order, ok := c.pick(p.now.Add(time.Minute))
		if !ok {
			break
		}
		if !order.Memory {
			t.Error("the order does not say that it is for memory")
		}
		p.carryOut(n, order)
		c.report(n, p.load(n))
	}
	if p.chats != 2 {
		t.Errorf("%d chats of 1000 bytes stay under a ceiling of 2500 bytes, want 2", p.chats)
	}
}
