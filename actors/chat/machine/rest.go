package machine

import (
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
)

// remind passes all pending rows to the adapter again, because it may have lost them in a restart. The adapter does
// not send a row twice that it still has.
func (c *Chat) remind() {
	if c.State.Run != nil {
		return
	}
	clear(c.Handed)
	for _, row := range c.State.Pending() {
		c.Deliver(row)
	}
}

// rest sets the timer of [restDue] if anything has happened since it was set last, or since the chat was loaded.
func (c *Chat) rest() {
	if c.restsAt != c.State.N && (c.State.HasFacts() || c.restsAt == 0) {
		c.restsAt = c.State.N
		c.Timer("rest", restAfter, restDue{})
	}
}

// onRestDue checkpoints an idle chat. If it has nothing left to do and nobody watches it, it also hibernates.
func (c *Chat) onRestDue() {
	if c.State.HasFacts() {
		c.Plan.MayRefuse = true // it is tried again after the next message
		c.Checkpoint()
		c.restsAt = c.State.N
	}
	if c.quiet() && len(c.Watching) == 0 && c.compaction.ready == nil && !c.Closing {
		c.Effect(decision.Report{Msg: messages.ChatSized{ChatKey: c.Key}})
		c.Effect(decision.Hibernate{})
	}
}

// quiet reports whether nothing is left to do.
func (c *Chat) quiet() bool {
	return c.State.Run == nil && c.State.OpenTurns() == 0 && len(c.State.Pending()) == 0 && len(c.asks) == 0 && c.Waits.Len() == 0 && !c.undecided() &&
		c.compaction.child == "" && !c.memory.Busy() && !c.mayConfirm()
}

// undecided reports whether a request is open or a decision has not yet had its outcome.
func (c *Chat) undecided() bool {
	turn, continues := c.State.Continues()
	_, _, _, switching := c.State.Switching()
	return continues || switching || turn.Continues() || len(c.State.OpenRequests()) > 0 || len(c.State.Due()) > 0 || len(c.State.Referrals) > 0 || c.requests.OutcomesOwed() > 0
}

func (c *Chat) askPassivate(msg messages.AskPassivate) {
	if !c.quiet() || len(c.Watching) > 0 {
		c.remind()
		c.Answer(messages.PassivateBusy{ChatKey: c.Key})
		return
	}
	c.Plan.MayRefuse = true
	c.putToRest()
	c.Answer(messages.PassivateOK{ChatKey: c.Key, Seq: msg.Seq})
}

// putToRest saves everything of an idle chat and removes it from the list of chats that the host loads when it starts.
func (c *Chat) putToRest() {
	c.Checkpoint()
	c.Plan.Rest = true
}

// drain ends the activation once nothing is in progress. Queued turns are durable and are handled after the next
// start.
func (c *Chat) drain() {
	c.Closing, c.drainer = true, c.In.Sender
	c.dropCompaction()
	c.memory.Drop()
}

// drained answers the drain once nothing is in progress.
func (c *Chat) drained() {
	if !c.Closing || c.drainer == nil || c.State.Run != nil || len(c.State.Pending()) > 0 {
		return
	}
	if c.quiet() {
		c.putToRest()
	}
	c.Send(c.drainer, messages.Drained{ChatKey: c.Key})
	c.drainer = nil
}
