package machine

import (
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// outcomeDelay is how long buttons stay after the end, so that who pressed one reads the
// answer to that first.
const outcomeDelay = 500 * time.Millisecond

// outcomesOf are the requests that a message with buttons asks about, and how many of
// them have ended.
func (c *Chat) outcomesOf(b journal.ButtonRow) (asks []messages.AskOutcome, ended int) {
	for _, a := range b.Asks {
		answer, by, name := c.state.HowEnded(a.ApprovalID)
		asks = append(asks, messages.AskOutcome{Ask: messages.Ask(a), Answer: string(answer), By: by, ByName: name})
		ended += bit(answer != journal.AnswerOpen)
	}
	return asks, ended
}

// outcomesOwed counts the messages that people see with buttons for a request which has
// ended.
func (c *Chat) outcomesOwed() (n int) {
	for _, b := range c.state.Buttons {
		if _, ended := c.outcomesOf(b); ended > 0 && c.via.Ref != nil {
			n += bit(c.shownEnds[b.Key] != ended)
		}
	}
	return n
}

// owed counts what people or other chats still have to be shown beside the outbox.
func (c *Chat) owed() int {
	n := c.outcomesOwed()
	for _, r := range c.state.Referrals {
		answer, _, _ := c.state.HowEnded(r.ApprovalID)
		n += bit(!r.Taken || answer != journal.AnswerOpen)
	}
	return n
}

// showOutcomes has buttons give way to how the requests ended, whatever ended them. What
// was shown is told by the adapter; until then it is sent again.
func (c *Chat) showOutcomes(now time.Time, wanted map[string]bool) {
	if c.via.Ref == nil {
		return
	}
	for _, b := range c.state.Buttons {
		asks, ended := c.outcomesOf(b)
		if ended == 0 || c.shownEnds[b.Key] == ended {
			continue
		}
		what := "buttons " + itemID(b.Key) + " " + strconv.Itoa(ended)
		wanted[what] = true
		c.refers.after(what, now.Add(outcomeDelay))
		if !c.refers.due(what, now) {
			continue
		}
		c.send(c.via.Ref, messages.ShowOutcomes{
			ChatKey: c.key, Row: rowID(b.Key), ChatType: c.chatType, MessageID: b.Message, Text: b.Text, Asks: asks, Ended: ended,
		})
	}
}

// outcomesShown notes what people see. When all of a message's requests have ended,
// nothing is left to show there.
func (c *Chat) outcomesShown(msg messages.OutcomesShown) {
	if msg.Retry {
		return // it is sent again
	}
	for _, b := range c.state.Buttons {
		if b.Key != rowKey(msg.Row) {
			continue
		}
		put(&c.shownEnds, b.Key, msg.Ended)
		if msg.Ended >= len(b.Asks) {
			delete(c.shownEnds, b.Key)
			c.offer(journal.ButtonsSettled{Key: b.Key}) // else it is shown once more
		}
		return
	}
}
