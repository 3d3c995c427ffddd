package chat

import (
	"time"

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
func (c *chat) gather(msg messages.AcceptIngress) (others int, waits bool) {
	by := askerOf(journal.NewTurn(msg.Turn))
	if c.Gather == nil || c.group() || !c.via.Outbox || by.ID == "" {
		return 0, false
	}
	g, asked := c.gathering[msg.IngressID]
	if asked && (g.done || !c.holdBack(msg.IngressID, msg, gatherWait)) {
		delete(c.gathering, msg.IngressID)
		delete(c.waits.until, msg.IngressID)
		return g.others, false
	}
	if asked {
		return 0, true
	}
	if c.gathering == nil {
		c.gathering = map[string]gathered{}
	}
	c.gathering[msg.IngressID] = gathered{id: msg.IngressID}
	c.effect(gatherRequests{msg.IngressID, by.ID})
	c.holdBack(msg.IngressID, msg, gatherWait)
	return 0, true
}

func (c *chat) onGathered(msg gathered) {
	if _, waits := c.gathering[msg.id]; waits {
		c.gathering[msg.id] = msg
		c.letGo()
	}
}
