package machine

import (
	"time"

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
	if !ok {
		c.settleAtOnce(msg, turn, journal.FateDeclined, "lane_full", c.tellFlood(turn))
		return
	}
	settled := journal.TurnsSettled{
		Fates: []journal.Settled{{TurnID: victim.ID, Fate: journal.FateDeclined, Reason: "lane_full"}},
		Rows:  c.hostRow(messages.AcceptIngress{IngressID: victim.ID, RequestID: victim.Meta.RequestID}, victim, c.tellFlood(victim)),
	}
	turn.Metadata = turn.Meta.Append(nil)
	c.offer(settled, journal.TurnAccepted{Turn: turn.Message})
	c.unfetch(victim.ID)
	c.settledFrame(victim.ID)
	c.deliverRows(settled.Rows)
	c.accepted(msg, turn)
}

// busiestSender returns the newest queued turn of the sender with the most of them, if that is more than the sender of the
// new turn would have.
func (c *Chat) busiestSender(turn journal.Turn) (victim journal.Turn, ok bool) {
	if !c.FairToSenders {
		return victim, false
	}
	waiting := map[string]int{}
	for _, t := range c.state.Lane {
		waiting[t.Meta.UserID]++
	}
	most := waiting[turn.Meta.UserID] + 1
	for _, t := range c.state.Lane {
		if n := waiting[t.Meta.UserID]; n > most || ok && n == most && t.Meta.UserID == victim.Meta.UserID {
			most, victim, ok = n, t, true
		}
	}
	return victim, ok
}

// tellFlood returns the notice for a declined message, or empty if this flood already had one.
func (c *Chat) tellFlood(turn journal.Turn) string {
	now := c.now()
	told := !c.flooded.IsZero() && now.Sub(c.flooded) < floodRest
	c.flooded = now
	if told {
		return ""
	}
	return c.text(notices.LaneFull(), turn)
}

// hostRow returns the outbox row for words of the host about an ingress, or nothing in a chat without an outbox.
func (c *Chat) hostRow(msg messages.AcceptIngress, turn journal.Turn, say string) []journal.Row {
	if say == "" || !c.via.Outbox {
		return nil
	}
	row := journal.Row{
		Key: journal.RowKey{MessageID: "h:" + msg.IngressID, N: 1}, RequestID: msg.RequestID, Text: say, ReplyTo: c.replyTo(turn),
	}
	for _, a := range msg.Asks {
		row.Asks = append(row.Asks, journal.Ask(a))
	}
	return []journal.Row{row}
}

// depth counts the consecutive bot messages up to this one. A bot is taken to answer the last message of the chat.
func (c *Chat) depth(bot bool) int64 {
	switch {
	case !bot:
		return 0
	case c.state.DepthAt > 0 && c.ago(time.UnixMilli(c.state.DepthAt)) > chainRest:
		return 1
	}
	return c.state.Depth + 1
}

// declineBot ends a conversation between bots with one notice. The declined ingress keeps its depth, so that the next
// one is declined silently, even after a restart.
func (c *Chat) declineBot(msg messages.AcceptIngress, turn journal.Turn) {
	say := ""
	if c.state.Depth <= maxDepth {
		say = c.text(notices.Bots(), turn)
	}
	c.settleAtOnce(msg, turn, journal.FateDeclined, "bot_loop", say)
}

// hold makes an idle chat wait a limited time for more messages before it starts a run.
func (c *Chat) hold() {
	now := c.now()
	if c.holding.IsZero() {
		c.holding = now
	}
	wait := min(c.Debounce, max(c.holding.Add(maxDebounce*c.Debounce).Sub(now), 0))
	c.timer("debounce", wait, debounceDue{})
}
