package requests

import (
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// outcomeDelay is how long buttons stay after a request has ended, so that the person who pressed one sees the reply
// to the press first.
const outcomeDelay = 500 * time.Millisecond

// outcomesOf returns the requests that a message with buttons asks about, and how many of them have ended.
func (q *Requests) outcomesOf(b journal.ButtonRow) (asks []messages.AskOutcome, ended int) {
	for _, a := range b.Asks {
		answer, by, name := q.State.HowEnded(a.ApprovalID)
		asks = append(asks, messages.AskOutcome{Ask: messages.Ask(a), Answer: string(answer), By: by, ByName: name})
		ended += decision.Bit(answer != journal.AnswerOpen)
	}
	return asks, ended
}

// OutcomesOwed counts the messages that still show buttons for a request that has ended.
func (q *Requests) OutcomesOwed() (n int) {
	for _, b := range q.State.Buttons {
		if _, ended := q.outcomesOf(b); ended > 0 && q.Via.Ref != nil {
			n += decision.Bit(q.shownEnds[b.Key] != ended)
		}
	}
	return n
}

// Owed counts the updates, apart from the outbox, that people or other chats have yet to receive.
func (q *Requests) Owed() int {
	n := q.OutcomesOwed()
	for _, r := range q.State.Referrals {
		answer, _, _ := q.State.HowEnded(r.ApprovalID)
		n += decision.Bit(!r.Confirmed || answer != journal.AnswerOpen)
	}
	return n
}

// showOutcomes replaces the buttons of ended requests with their outcome. It sends the update again until the adapter
// confirms it with OutcomesShown.
func (q *Requests) showOutcomes(now time.Time, wanted map[string]bool) {
	if q.Via.Ref == nil {
		return
	}
	for _, b := range q.State.Buttons {
		asks, ended := q.outcomesOf(b)
		if ended == 0 || q.shownEnds[b.Key] == ended {
			continue
		}
		what := "buttons " + decision.ItemID(b.Key) + " " + strconv.Itoa(ended)
		wanted[what] = true
		q.refers.After(what, now.Add(outcomeDelay))
		if !q.refers.Due(what, now) {
			continue
		}
		q.Send(q.Via.Ref, messages.ShowOutcomes{
			ChatKey: q.Key, Row: messages.RowID(b.Key), ChatType: q.ChatType, MessageID: b.Message, Text: b.Text, Asks: asks, Ended: ended,
		})
	}
}

// outcomesShown records that people see the outcomes. Once all requests of a message have ended, the message needs no
// further update.
func (q *Requests) outcomesShown(msg messages.OutcomesShown) {
	if msg.Retry {
		return // showOutcomes sends it again
	}
	for _, b := range q.State.Buttons {
		if b.Key != journal.RowKey(msg.Row) {
			continue
		}
		decision.Put(&q.shownEnds, b.Key, msg.Ended)
		if msg.Ended >= len(b.Asks) {
			delete(q.shownEnds, b.Key)
			q.Offer(journal.ButtonsSettled{Key: b.Key}) // if refused, it is shown once more
		}
		return
	}
}
