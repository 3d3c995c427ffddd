package machine

import (
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// askWait is how long a call of chat_send waits for its receipts.
const askWait = 5 * time.Second

// ask is a call that waits for its row to be sent.
type ask struct {
	who decision.Ref
	id  int
}

// askDue is the timer message for a call that has waited askWait.
type askDue struct{ key journal.RowKey }

// waitFor answers a call when its row is settled, or after askWait with the progress so far.
func (c *Chat) waitFor(key journal.RowKey) {
	row := c.State.Row(key)
	if row == nil {
		c.Answer(messages.EgressAnswer{Delivered: true})
		return
	}
	if row.Parked {
		c.Answer(messages.EgressAnswer{Parked: true, Parts: len(row.Sent)})
		return
	}
	a := ask{who: c.In.Sender, id: len(c.asks[key])}
	decision.Put(&c.asks, key, append(slices.Clip(c.asks[key]), a))
	c.Timer("ask "+decision.ItemID(key)+" "+strconv.Itoa(a.id), askWait, askDue{key})
}

func (c *Chat) answerAsks(key journal.RowKey, answer messages.EgressAnswer) {
	for _, a := range c.asks[key] {
		c.Send(a.who, answer)
	}
	delete(c.asks, key)
}

func (c *Chat) onAskDue(msg askDue) {
	if len(c.asks[msg.key]) == 0 {
		return
	}
	answer := messages.EgressAnswer{}
	if row := c.State.Row(msg.key); row != nil {
		answer.Parts, answer.Parked = len(row.Sent), row.Parked
	}
	c.answerAsks(msg.key, answer)
}

// firstWord is the run whose first words people have not seen yet.
type firstWord struct {
	runID string
	since time.Time
}

// firstEgress measures the time until people see the first words of a run.
func (c *Chat) firstEgress(runID string) {
	if runID == "" || runID != c.first.runID {
		return
	}
	c.Measure(decision.CountFirstWords, c.Ago(c.first.since).Seconds())
	c.first = firstWord{}
}
