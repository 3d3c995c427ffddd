package machine

import (
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// floodRest is how long no message must have been declined before a flood is over. People get one notice in each
	// flood.
	floodRest = time.Minute
	// maxDepth is how many bots may answer each other in a row before they are declined. A person's message starts
	// again at zero.
	maxDepth = 8
	// chainRest ends a chain of bots by time: a later message starts a new chain.
	chainRest = time.Hour
	// maxDebounce limits how long a run waits for more messages, in multiples of Debounce.
	maxDebounce = 5
)

// debounceDue is the timer message after which an idle chat stops waiting for more messages.
type debounceDue struct{}

// laneFull makes room for a turn or declines it. In fair mode the sender with the most queued turns loses one: the
// newest that is queued, or this one.
func (c *Chat) laneFull(msg messages.AcceptIngress, turn journal.Turn) {
	victim, ok := c.busiestSender(turn)
	switch {
	case ok:
	case !c.Via.Outbox: // The sender still has the message and may send it again, so it must not become known.
		c.Answer(messages.IngressAccepted{ChatKey: c.Key, RequestID: msg.RequestID, Declined: "lane_full", Answer: c.Directly(msg, c.tellFlood(turn))})
		return
	default:
		c.Settle(msg, turn, journal.FateDeclined, "lane_full", c.tellFlood(turn))
		return
	}
	settled := journal.TurnsSettled{
		Fates: []journal.Settled{{TurnID: victim.ID, Fate: journal.FateDeclined, Reason: "lane_full"}},
		Rows:  c.HostRow(messages.AcceptIngress{IngressID: victim.ID, RequestID: victim.Meta.RequestID}, victim, c.tellFlood(victim)),
	}
	turn.Metadata = turn.Meta.Append(nil)
	c.Offer(settled, journal.TurnAccepted{Turn: turn.Message})
	c.files.Unfetch(victim.ID)
	c.SettledFrame(victim.ID)
	c.DeliverRows(settled.Rows)
	c.accepted(msg, turn)
}

// busiestSender returns the newest queued turn of the sender with the most of them, if that is more than the sender of the
// new turn would have.
func (c *Chat) busiestSender(turn journal.Turn) (victim journal.Turn, ok bool) {
	if !c.FairToSenders {
		return victim, false
	}
	waiting := map[string]int{}
	for _, t := range c.State.Lane {
		waiting[t.Meta.UserID]++
	}
	most := waiting[turn.Meta.UserID] + 1
	for _, t := range c.State.Lane {
		if n := waiting[t.Meta.UserID]; n > most || ok && n == most && t.Meta.UserID == victim.Meta.UserID {
			most, victim, ok = n, t, true
		}
	}
	return victim, ok
}

// tellFlood returns the notice for a declined message, or empty if this flood already had one.
func (c *Chat) tellFlood(turn journal.Turn) string {
	now := c.Now()
	told := !c.flooded.IsZero() && now.Sub(c.flooded) < floodRest
	c.flooded = now
	if told {
		return ""
	}
	return c.Text(notices.LaneFull(), turn)
}

// depth counts the consecutive bot messages up to this one. A bot is taken to answer the last message of the chat.
func (c *Chat) depth(bot bool) int64 {
	switch {
	case !bot:
		return 0
	case c.State.DepthAt > 0 && c.Ago(time.UnixMilli(c.State.DepthAt)) > chainRest:
		return 1
	}
	return c.State.Depth + 1
}

// declineBot ends a conversation between bots with one notice. The declined ingress keeps its depth, so that the next
// one is declined silently, even after a restart.
func (c *Chat) declineBot(msg messages.AcceptIngress, turn journal.Turn) {
	say := ""
	if c.State.Depth <= maxDepth {
		say = c.Text(notices.Bots(), turn)
	}
	c.Settle(msg, turn, journal.FateDeclined, "bot_loop", say)
}

// hold makes an idle chat wait a limited time for more messages before it starts a run.
func (c *Chat) hold() {
	now := c.Now()
	if c.holding.IsZero() {
		c.holding = now
	}
	wait := min(c.Debounce, max(c.holding.Add(maxDebounce*c.Debounce).Sub(now), 0))
	c.Timer("debounce", wait, debounceDue{})
}

// accepted confirms that a turn is durable and continues with it.
func (c *Chat) accepted(msg messages.AcceptIngress, turn journal.Turn) {
	c.quoted.Quoted() // the turn quotes them
	c.Answer(messages.IngressAccepted{ChatKey: c.Key, RequestID: msg.RequestID, TurnID: turn.ID})
	c.Mark(turn, messages.MarkSeen)
	if c.since.IsZero() {
		c.since = c.Now()
	}
	if c.State.Run == nil && c.Debounce > 0 && !c.Closing {
		c.hold()
		return
	}
	if c.run != nil && c.Mode == decision.ModeInterrupt {
		c.stopWith("interrupted by a newer message", msg.RequestID, false) // the queued turns start the next run
	}
}
