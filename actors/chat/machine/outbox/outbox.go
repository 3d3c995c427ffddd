// Package outbox answers operators who look at what a chat has yet to send, and retries or drops what is parked.
package outbox

import (
	"cmp"
	"sort"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Outbox shows operators the rows that wait or are parked, and retries or drops the parked ones.
type Outbox struct{ *decision.Base }

// OnDelayed notes the progress of sending. It is not journaled: after a restart the adapter counts its tries
// again.
func (o *Outbox) OnDelayed(msg messages.EgressDelayed) {
	if o.State.Row(journal.RowKey(msg.Row)) != nil {
		decision.Put(&o.Delayed, journal.RowKey(msg.Row), msg)
	}
}

// List answers with all pending and parked items.
func (o *Outbox) List() {
	reply := messages.OutboxReply{ChatKey: o.Key, Items: Items(o.State)}
	for i, item := range reply.Items {
		for key, d := range o.Delayed {
			if item.ID == decision.ItemID(key) && item.State != messages.OutboxParked {
				reply.Items[i].Tries, reply.Items[i].LastError = d.Tries, d.Reason
			}
		}
	}
	o.Answer(reply)
}

// Items returns the pending rows of a chat and its parked rows and turns, oldest first.
func Items(s *journal.State) []messages.OutboxItem {
	var items []messages.OutboxItem
	for _, row := range s.Outbox {
		item := messages.OutboxItem{
			ID: decision.ItemID(row.Key), Kind: messages.OutboxEgress, State: messages.OutboxWaiting, Text: row.Text, Files: len(row.Attachments),
			Since: row.Queued, Tries: row.Tries, LastError: row.Reason, Parts: len(row.Sent), Maybe: row.Maybe, RequestID: row.RequestID,
		}
		for _, a := range s.OpenRequests() {
			if o := s.Unseen(a.Request.ID); o != nil && o.Key == row.Key {
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
	for _, p := range s.Quarantine {
		items = append(items, messages.OutboxItem{
			ID: p.Turn.ID, Kind: messages.OutboxIngress, State: messages.OutboxParked, Text: journal.Text(p.Turn.Message),
			Since: p.At, LastError: "panic", RequestID: p.Turn.Meta.RequestID, From: p.Turn.Meta.UserID,
		})
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].Since < items[j].Since })
	return items
}

// pick returns the parked rows and turns with the given id, or all if it is empty. The reason applies if there are
// none.
func (o *Outbox) pick(id string) (rows []journal.OutboxRow, turns []journal.Quarantined, reason string) {
	reason = "not_found"
	for _, row := range o.State.Outbox {
		switch {
		case id != "" && id != decision.ItemID(row.Key):
		case row.Parked:
			rows = append(rows, row)
		default:
			reason = "not_parked"
		}
	}
	for _, p := range o.State.Quarantine {
		if id == "" || id == p.Turn.ID {
			turns = append(turns, p)
		}
	}
	return rows, turns, reason
}

// Retry durably retries parked items.
func (o *Outbox) Retry(msg messages.RetryParked) {
	rows, turns, reason := o.pick(msg.ID)
	var facts []journal.Fact
	for _, row := range rows {
		facts = append(facts, journal.EgressRetried{Key: row.Key, By: msg.By})
	}
	seq := o.State.Seq
	for _, p := range turns {
		seq++
		turn := afresh(p.Turn, seq, o.NewID())
		facts = append(facts, journal.TurnReleased{TurnID: p.Turn.ID, Outcome: journal.ParkRetried, By: msg.By, Turn: &turn})
	}
	if !o.settleParked(facts, rows, turns, reason, journal.ParkRetried) {
		return
	}
	for _, row := range rows {
		if now := o.State.Row(row.Key); now != nil {
			o.Deliver(*now)
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

// Drop discards parked items.
func (o *Outbox) Drop(msg messages.DropParked) {
	rows, turns, reason := o.pick(msg.ID)
	var facts []journal.Fact
	for _, row := range rows {
		facts = append(facts, journal.EgressSettled{
			Key: row.Key, Outcome: journal.EgressDropped, Reason: row.Reason, Receipts: journal.IDs(row.Sent), Maybe: row.Maybe, By: msg.By,
		})
	}
	for _, p := range turns {
		facts = append(facts, journal.TurnReleased{TurnID: p.Turn.ID, Outcome: journal.EgressDropped, By: msg.By})
	}
	o.settleParked(facts, rows, turns, reason, journal.EgressDropped)
}

// settleParked makes facts about parked items durable and answers.
func (o *Outbox) settleParked(facts []journal.Fact, rows []journal.OutboxRow, turns []journal.Quarantined, reason, outcome string) bool {
	if len(facts) == 0 {
		o.Answer(messages.ParkedSettled{ChatKey: o.Key, Reason: reason})
		return false
	}
	o.Wake()
	o.Offer(facts...)
	done := messages.ParkedSettled{ChatKey: o.Key}
	for _, row := range rows {
		done.IDs = append(done.IDs, decision.ItemID(row.Key))
		o.Count(decision.CountEgress, outcome)
		o.Audit(decision.AuditEntry{Event: "egress", RequestID: row.RequestID, RunID: row.RunID, Result: outcome})
	}
	for _, p := range turns {
		done.IDs = append(done.IDs, p.Turn.ID)
		o.Audit(decision.AuditEntry{Event: "ingress", RequestID: p.Turn.Meta.RequestID, Result: outcome, Reason: journal.ReasonQuarantined})
	}
	o.Answer(done)
	return true
}
