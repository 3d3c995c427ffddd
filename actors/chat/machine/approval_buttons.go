package machine

import (
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// outcomeDelay is how long buttons stay after a request has ended, so that the person who pressed one sees the reply
// to the press first.
const outcomeDelay = 500 * time.Millisecond

// outcomesOf returns the requests that a message with buttons asks about, and how many of them have ended.
func (c *Chat) outcomesOf(b journal.ButtonRow) (asks []messages.AskOutcome, ended int) {
	for _, a := range b.Asks {
		answer, by, name := c.state.HowEnded(a.ApprovalID)
		asks = append(asks, messages.AskOutcome{Ask: messages.Ask(a), Answer: string(answer), By: by, ByName: name})
		ended += bit(answer != journal.AnswerOpen)
	}
	return asks, ended
}

// outcomesOwed counts the messages that still show buttons for a request that has ended.
func (c *Chat) outcomesOwed() (n int) {
	for _, b := range c.state.Buttons {
		if _, ended := c.outcomesOf(b); ended > 0 && c.via.Ref != nil {
			n += bit(c.shownEnds[b.Key] != ended)
		}
	}
	return n
}

// owed counts the updates, apart from the outbox, that people or other chats have yet to receive.
func (c *Chat) owed() int {
	n := c.outcomesOwed()
	for _, r := range c.state.Referrals {
		answer, _, _ := c.state.HowEnded(r.ApprovalID)
		n += bit(!r.Taken || answer != journal.AnswerOpen)
	}
	return n
}

// showOutcomes replaces the buttons of ended requests with their outcome. It sends the update again until the adapter
// confirms it with OutcomesShown.
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
		c.refers.After(what, now.Add(outcomeDelay))
		if !c.refers.Due(what, now) {
			continue
		}
		c.send(c.via.Ref, messages.ShowOutcomes{
			ChatKey: c.key, Row: messages.RowID(b.Key), ChatType: c.chatType, MessageID: b.Message, Text: b.Text, Asks: asks, Ended: ended,
		})
	}
}

// outcomesShown records that people see the outcomes. Once all requests of a message have ended, the message needs no
// further update.
func (c *Chat) outcomesShown(msg messages.OutcomesShown) {
	if msg.Retry {
		return // showOutcomes sends it again
	}
	for _, b := range c.state.Buttons {
		if b.Key != journal.RowKey(msg.Row) {
			continue
		}
		put(&c.shownEnds, b.Key, msg.Ended)
		if msg.Ended >= len(b.Asks) {
			delete(c.shownEnds, b.Key)
			c.offer(journal.ButtonsSettled{Key: b.Key}) // if refused, it is shown once more
		}
		return
	}
}
