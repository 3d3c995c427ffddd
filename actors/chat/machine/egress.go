package machine

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func (c *Chat) onEgressProgressed(msg messages.EgressProgressed) {
	row, parts := c.State.Row(journal.RowKey(msg.Row)), msg.Part+1
	if msg.Draft {
		parts = 0
	}
	if row == nil || !msg.Draft && len(row.Sent) >= parts {
		c.kept(msg.Row, parts)
		return
	}
	runID := row.RunID
	fact := journal.EgressSent{Key: row.Key, Part: msg.Part, MessageID: msg.Receipt.ID, Order: msg.Receipt.Order, Draft: msg.Draft}
	c.Offer(fact)
	c.firstEgress(runID)
	c.kept(msg.Row, parts)
	c.Retake()
}

// kept tells the adapter that a receipt is durable, so that it may continue.
func (c *Chat) kept(row messages.RowID, parts int) {
	c.Answer(messages.EgressKept{ChatKey: c.Key, Row: row, Parts: parts})
}

func (c *Chat) onEgressDelivered(msg messages.EgressDelivered) {
	key := journal.RowKey(msg.Row)
	row := c.State.Row(key)
	delete(c.Receipts, key)
	c.kept(msg.Row, len(msg.Receipts))
	c.answerAsks(key, messages.EgressAnswer{Delivered: true, Parts: len(msg.Receipts)})
	if row == nil {
		return
	}
	maybe, requestID, runID := row.Maybe || msg.Maybe, row.RequestID, row.RunID
	fact := journal.EgressSettled{
		Key: key, Outcome: journal.EgressDelivered, Receipts: journal.IDs(msg.Receipts), Orders: journal.Orders(msg.Receipts), Maybe: maybe,
	}
	c.Offer(fact)
	delete(c.Handed, key)
	delete(c.Delayed, key)
	c.firstEgress(runID)
	c.Count(decision.CountEgress, fact.Outcome)
	c.Audit(decision.AuditEntry{Event: "egress", RequestID: requestID, RunID: runID, Result: fact.Outcome})
	c.Retake()
}

func (c *Chat) onEgressFailed(msg messages.EgressFailed) {
	row := c.State.Row(journal.RowKey(msg.Row))
	if row == nil || row.Parked {
		return
	}
	delete(c.Handed, row.Key)
	delete(c.Delayed, row.Key)
	requestID, runID := row.RequestID, row.RunID
	fact := journal.EgressSettled{Key: row.Key, Outcome: journal.EgressParked, Reason: msg.Reason, Tries: max(msg.Tries, 1), Maybe: row.Maybe || msg.Maybe}
	c.Offer(fact) // if it is refused, the adapter gets the row again when the chat is asked to stop
	c.Count(decision.CountEgress, fact.Outcome)
	c.Audit(decision.AuditEntry{Event: "egress", RequestID: requestID, RunID: runID, Result: fact.Outcome, Reason: msg.Reason})
	c.answerAsks(journal.RowKey(msg.Row), messages.EgressAnswer{Parked: true})
	c.Retake()
}

// queueEgress adds a message of a tool call to the outbox. Repeating the call does not add a second row.
func (c *Chat) queueEgress(msg messages.QueueEgress) {
	if key, known := c.rowOfCall(msg); known {
		c.waitFor(key)
		return
	}
	if skipped := c.skip(msg); skipped != "" {
		c.Answer(messages.EgressAnswer{Skipped: skipped, Delivered: skipped == "duplicate"})
		return
	}
	row := c.rowFor(msg)
	if msg.RunID == "" {
		c.sayFor(msg, row)
		return
	}
	if !c.Via.Outbox {
		// Readers see the call in the history.
		c.sent(msg)
		c.Answer(messages.EgressAnswer{Delivered: true, Parts: 1})
		return
	}
	c.Wake()
	c.Offer(journal.EgressQueued{Row: row})
	c.sent(msg)
	c.DeliverRows([]journal.Row{row})
	c.waitFor(row.Key)
}

func (c *Chat) rowFor(msg messages.QueueEgress) journal.Row {
	row := journal.Row{CallID: msg.CallID, Text: msg.Text, ReplyTo: msg.ReplyTo}
	if msg.RunID != "" {
		run := c.State.Run
		row.Key = journal.RowKey{MessageID: run.MessageID, N: c.nextRow()}
		row.RunID, row.RequestID = run.ID, run.RequestID
		if row.ReplyTo == "" {
			row.ReplyTo = c.replyAnchor()
		}
	} else {
		row.Key = journal.RowKey{MessageID: "x:" + msg.CallID, N: 1}
		row.Depth, row.Seq = msg.Depth+1, c.State.Seq
	}
	if c.Via.Outbox {
		row.Text = c.paging.First(row.Key, row.Text)
	}
	for _, f := range msg.Files {
		row.Attachments = append(row.Attachments, journal.Attachment(f))
	}
	return row
}

// rowOfCall finds the row that a call has already created.
func (c *Chat) rowOfCall(msg messages.QueueEgress) (journal.RowKey, bool) {
	if msg.RunID == "" {
		key := journal.RowKey{MessageID: "x:" + msg.CallID, N: 1}
		return key, c.State.Row(key) != nil
	}
	if c.State.Run == nil {
		return journal.RowKey{}, false
	}
	key, ok := c.State.Run.Rows[msg.CallID]
	return key, ok
}

// skip returns the reason why a call must not send, or empty if it may.
func (c *Chat) skip(msg messages.QueueEgress) string {
	switch {
	case msg.RunID != "" && !c.ours(msg.RunID):
		return "run_ended"
	case strings.TrimSpace(msg.Text) == "" && len(msg.Files) == 0:
		return "empty"
	case c.foreign(msg.Files):
		return "foreign_file"
	case msg.RunID == "" && c.hasSaid(msg):
		return "duplicate"
	case msg.RunID == "":
		return ""
	case len(c.State.Run.Rows) >= c.MaxSends:
		return "limit"
	case !c.RepeatSends && c.run.lastSent[content(msg)]:
		return "duplicate"
	}
	return ""
}

// foreign reports whether a message refers to a file by a platform id that was never sent to this chat: the file may
// belong to another chat. Turns that were compacted are not searched; the chat's own copy of such a file has a path.
func (c *Chat) foreign(files []messages.FileRef) bool {
	return slices.ContainsFunc(files, func(f messages.FileRef) bool {
		return f.FileID != "" && !received(c.State.History, f.FileID) && !received(c.State.Lane, f.FileID)
	})
}

// received reports whether one of the user turns contains a file with that id.
func received(turns []journal.Turn, id string) bool {
	return slices.ContainsFunc(turns, func(t journal.Turn) bool {
		return t.Role == uimessage.RoleUser && slices.ContainsFunc(t.Parts, func(p uimessage.Part) bool {
			f, ok := platform.FileOf(p)
			return ok && f.FileID == id
		})
	})
}

func (c *Chat) sent(msg messages.QueueEgress) {
	if msg.RunID != "" && c.run != nil {
		decision.Put(&c.run.lastSent, content(msg), true)
	}
}

// content is a key that distinguishes messages: the same words with another file are another message.
func content(msg messages.QueueEgress) string {
	var b strings.Builder
	b.WriteString(msg.Text)
	for _, f := range msg.Files {
		for _, s := range []string{f.Path, f.FileID, f.Kind, f.Caption, f.Spoken} {
			b.WriteString("\x00" + s)
		}
	}
	return b.String()
}
