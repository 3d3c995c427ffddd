package machine

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// GatherWait is how long a list waits for the requests of other chats.
const GatherWait = 4 * time.Second

// gather asks the other chats to show their requests here before a list is sent. If waits is true, the message is held
// back until they have answered.
func (c *Chat) gather(msg messages.AcceptIngress) (others int, waits bool) {
	by := askerOf(journal.NewTurn(msg.Turn))
	if !c.Gathers || c.group() || !c.via.Outbox || by.ID == "" {
		return 0, false
	}
	g, asked := c.gathering[msg.IngressID]
	if asked && (g.Done || !c.holdBack(msg.IngressID, msg, GatherWait)) {
		delete(c.gathering, msg.IngressID)
		delete(c.waits.until, msg.IngressID)
		return g.Others, false
	}
	if asked {
		return 0, true
	}
	put(&c.gathering, msg.IngressID, Gathered{ID: msg.IngressID})
	c.effect(GatherRequests{msg.IngressID, by.ID})
	c.holdBack(msg.IngressID, msg, GatherWait)
	return 0, true
}

func (c *Chat) onGathered(msg Gathered) {
	if _, waits := c.gathering[msg.ID]; waits {
		c.gathering[msg.ID] = msg
		c.retake()
	}
}
