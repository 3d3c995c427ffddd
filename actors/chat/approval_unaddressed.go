package chat

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// decideUnaddressed takes a message of a group that does not turn to the bot, while a
// request waits there: a decision of somebody who may decide counts as addressed, and so
// does a plain command. Anything else stays what it is to the gate, and no model reads it.
func (c *chat) decideUnaddressed(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn) bool {
	if !msg.Decides || msg.Bot || msg.Forwarded || msg.EditOf != "" || len(c.openHere()) == 0 {
		return false
	}
	if msg.Command != "" {
		if slices.Contains([]string{"allow", "activation", "start"}, msg.Command) {
			return false // the platform's own, which it obeys only when it is addressed
		}
		msg.Verdict = messages.VerdictCommand
		if !c.decideInWords(ac, msg, turn) {
			c.hostCommand(ac, msg, turn)
		}
		return true
	}
	switch v := c.understand(msg, turn); v.sense {
	case senseDecide:
		return c.decideThose(ac, msg, turn, v)
	case senseGrant:
		return c.grantTimed(ac, msg, turn, v)
	case senseUnknown:
		return c.sayToThem(ac, msg, turn, noticeAdminsUnknown())
	case senseNone, senseUnbound, senseForbid, senseList, senseRevoke, senseNotClear:
	}
	return false
}
