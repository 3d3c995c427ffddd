package chat

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// gatherWait is how long a list waits for the requests of other chats.
const gatherWait = 4 * time.Second

// gathered: the other chats have been asked for what waits there.
type gathered struct {
	id     string // of the message that wants to see it
	others int
	done   bool
}

// gather has the requests of other chats shown here before they are listed. Waits: the
// message is kept until then.
func (c *chat) gather(ac actor.Context, msg messages.AcceptIngress) (others int, waits bool) {
	by := askerOf(journal.NewTurn(msg.Turn))
	if c.Gather == nil || c.group() || !c.via.Outbox || by.ID == "" {
		return 0, false
	}
	g := c.gathering[msg.IngressID]
	if g != nil && (g.done || !c.holdBack(ac, msg.IngressID, msg, gatherWait)) {
		delete(c.gathering, msg.IngressID)
		delete(c.waits.until, msg.IngressID)
		return g.others, false
	}
	if g != nil {
		return 0, true
	}
	if c.gathering == nil {
		c.gathering = map[string]*gathered{}
	}
	c.gathering[msg.IngressID] = &gathered{id: msg.IngressID}
	id, key, ask := msg.IngressID, c.key, c.Gather
	c.home.Go(func() any {
		ctx, cancel := context.WithTimeout(context.Background(), gatherWait*3/4)
		defer cancel()
		return gathered{id: id, others: ask(ctx, key, by.ID), done: true}
	}, func(pipe.Panicked) any { return gathered{id: id, done: true} })
	c.holdBack(ac, msg.IngressID, msg, gatherWait)
	return 0, true
}

func (c *chat) onGathered(ac actor.Context, msg gathered) {
	if g := c.gathering[msg.id]; g != nil && c.state != nil {
		*g = msg
		c.letGo(ac)
	}
}
