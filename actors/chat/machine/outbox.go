package machine

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// itemID is the id by which operators refer to a row. A parked turn is referred to by its own id.
func itemID(key journal.RowKey) string { return key.MessageID + "/" + strconv.Itoa(key.N) }

// onEgressDelayed notes the progress of sending. It is not journaled: after a restart the adapter counts its tries
// again.
func (c *Chat) onEgressDelayed(msg messages.EgressDelayed) {
	if c.state.Row(journal.RowKey(msg.Row)) != nil {
		put(&c.delayed, journal.RowKey(msg.Row), msg)
	}
}

// listOutbox answers with all pending and parked items.
func (c *Chat) listOutbox() {
	reply := messages.OutboxReply{ChatKey: c.key, Items: Outbox(c.state)}
	for i, item := range reply.Items {
		for key, d := range c.delayed {
			if item.ID == itemID(key) && item.State != messages.OutboxParked {
				reply.Items[i].Tries, reply.Items[i].LastError = d.Tries, d.Reason
			}
		}
	}
	c.answer(reply)
}

// Outbox returns the pending rows of a chat and its parked rows and turns, oldest first.
func Outbox(s *journal.State) []messages.OutboxItem {
	var items []messages.OutboxItem
	for _, row := range s.Outbox {
		item := messages.OutboxItem{
			ID: itemID(row.Key), Kind: messages.OutboxEgress, State: messages.OutboxWaiting, Text: row.Text, Files: len(row.Attachments),
			Since: row.Queued, Tries: row.Tries, LastError: row.Reason, Parts: len(row.Sent), Maybe: row.Maybe, RequestID: row.RequestID,
		}
		for _, a := range s.OpenRequests() {
			if o := unseenIn(s, a.Request.ID); o != nil && o.Key == row.Key {
				item.Unseen = append(item.Unseen, a.Request.ID)
			}
		}
		switch {
		case row.Parked:
			item.State = messages.OutboxParked
		case row.Open:
			item.State = messages.OutboxWriting
		}
		items = append(items, item)
	}
	for _, p := range s.Parked {
		items = append(items, messages.OutboxItem{
			ID: p.Turn.ID, Kind: messages.OutboxIngress, State: messages.OutboxParked, Text: journal.Text(p.Turn.Message),
			Since: p.At, LastError: "panic", RequestID: p.Turn.Meta.RequestID, From: p.Turn.Meta.UserID,
		})
	}
	slices.SortStableFunc(items, func(a, b messages.OutboxItem) int { return cmp.Compare(a.Since, b.Since) })
	return items
}

// pick returns the parked rows and turns with the given id, or all if it is empty. The reason applies if there are
// none.
func (c *Chat) pick(id string) (rows []journal.OutboxRow, turns []journal.Parked, reason string) {
	reason = "not_found"
	for _, row := range c.state.Outbox {
		switch {
		case id != "" && id != itemID(row.Key):
		case row.Parked:
			rows = append(rows, row)
		default:
			reason = "not_parked"
		}
	}
	for _, p := range c.state.Parked {
		if id == "" || id == p.Turn.ID {
			turns = append(turns, p)
		}
	}
	return rows, turns, reason
}

// retryParked durably retries parked items.
func (c *Chat) retryParked(msg messages.RetryParked) {
	rows, turns, reason := c.pick(msg.ID)
	var facts []journal.Fact
	for _, row := range rows {
		facts = append(facts, journal.EgressRetried{Key: row.Key, By: msg.By})
	}
	seq := c.state.Seq
	for _, p := range turns {
		seq++
		turn := afresh(p.Turn, seq, c.newID())
		facts = append(facts, journal.TurnUnparked{TurnID: p.Turn.ID, Outcome: journal.ParkRetried, By: msg.By, Turn: &turn})
	}
	if !c.settleParked(facts, rows, turns, reason, journal.ParkRetried) {
		return
	}
	for _, row := range rows {
		if now := c.state.Row(row.Key); now != nil {
			c.deliver(*now)
		}
	}
}

// afresh returns a parked turn for its retry: the same words under new ids, because the first attempt already has a
// fate.
func afresh(t journal.Turn, seq int64, id string) uimessage.Message {
	mark := "~" + id
	meta := t.Meta
	meta.Seq, meta.IngressID = seq, cmp.Or(meta.IngressID, t.ID)+mark
	return uimessage.Message{ID: t.ID + mark, Role: uimessage.RoleUser, Parts: t.Parts, Metadata: meta.Append(nil)}
}

// dropParked discards parked items.
func (c *Chat) dropParked(msg messages.DropParked) {
	rows, turns, reason := c.pick(msg.ID)
	var facts []journal.Fact
	for _, row := range rows {
		facts = append(facts, journal.EgressSettled{
			Key: row.Key, Outcome: journal.EgressDropped, Reason: row.Reason, Receipts: journal.IDs(row.Sent), Maybe: row.Maybe, By: msg.By,
		})
	}
	for _, p := range turns {
		facts = append(facts, journal.TurnUnparked{TurnID: p.Turn.ID, Outcome: journal.EgressDropped, By: msg.By})
	}
	c.settleParked(facts, rows, turns, reason, journal.EgressDropped)
}

// settleParked makes facts about parked items durable and answers.
func (c *Chat) settleParked(facts []journal.Fact, rows []journal.OutboxRow, turns []journal.Parked, reason, outcome string) bool {
	if len(facts) == 0 {
		c.answer(messages.ParkedSettled{ChatKey: c.key, Reason: reason})
		return false
	}
	c.wake()
	c.offer(facts...)
	done := messages.ParkedSettled{ChatKey: c.key}
	for _, row := range rows {
		done.IDs = append(done.IDs, itemID(row.Key))
		c.count(CountEgress, outcome)
		c.audit(AuditEntry{Event: "egress", RequestID: row.RequestID, RunID: row.RunID, Result: outcome})
	}
	for _, p := range turns {
		done.IDs = append(done.IDs, p.Turn.ID)
		c.audit(AuditEntry{Event: "ingress", RequestID: p.Turn.Meta.RequestID, Result: outcome, Reason: journal.ReasonParked})
	}
	c.answer(done)
	return true
}
