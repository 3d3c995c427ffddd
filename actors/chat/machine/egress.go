package machine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// askWait is how long a call of chat_send waits for its receipts.
const askWait = 5 * time.Second

// ask is a call that waits for its row to be sent.
type ask struct {
	who Ref
	id  int
}

// askDue is the timer message for a call that has waited askWait.
type askDue struct{ key journal.RowKey }

// deliverRows passes new rows to the adapter. They are already durable, so nothing is lost if the adapter is not
// running.
func (c *Chat) deliverRows(rows []journal.Row) {
	for _, r := range rows {
		if row := c.state.Row(r.Key); row != nil {
			c.deliver(*row)
		}
	}
}

func (c *Chat) deliver(row journal.OutboxRow) {
	if c.via.Ref == nil || row.Open || c.handed[row.Key] {
		return
	}
	put(&c.handed, row.Key, true)
	if receipts, sent := c.receipts[row.Key]; sent {
		c.effect(Resend{Msg: messages.EgressDelivered{ChatKey: c.key, Row: messages.RowID(row.Key), Receipts: receipts}})
		return
	}
	d := messages.Deliver{
		ChatKey: c.key, Row: messages.RowID(row.Key), ChatType: c.chatType, Text: row.Text, ReplyTo: row.ReplyTo, Sent: row.Sent, Draft: row.Draft,
	}
	for _, a := range row.Attachments {
		d.Files = append(d.Files, messages.FileRef(a))
	}
	for _, a := range row.Asks {
		if answer, _, _ := c.state.HowEnded(a.ApprovalID); a.Digest == "" || answer == journal.AnswerOpen {
			d.Asks = append(d.Asks, messages.Ask(a))
		}
	}
	c.send(c.via.Ref, d)
}

// remind passes all pending rows to the adapter again, because it may have lost them in a restart. The adapter does
// not send a row twice that it still has.
func (c *Chat) remind() {
	if c.state.Run != nil {
		return
	}
	clear(c.handed)
	for _, row := range c.state.Pending() {
		c.deliver(row)
	}
}

func (c *Chat) onEgressProgressed(msg messages.EgressProgressed) {
	row, parts := c.state.Row(journal.RowKey(msg.Row)), msg.Part+1
	if msg.Draft {
		parts = 0
	}
	if row == nil || !msg.Draft && len(row.Sent) >= parts {
		c.kept(msg.Row, parts)
		return
	}
	runID := row.RunID
	fact := journal.EgressSent{Key: row.Key, Part: msg.Part, MessageID: msg.Receipt.ID, Order: msg.Receipt.Order, Draft: msg.Draft}
	c.offer(fact)
	c.firstEgress(runID)
	c.kept(msg.Row, parts)
	c.retake()
}

// kept tells the adapter that a receipt is durable, so that it may continue.
func (c *Chat) kept(row messages.RowID, parts int) {
	c.answer(messages.EgressKept{ChatKey: c.key, Row: row, Parts: parts})
}

func (c *Chat) onEgressDelivered(msg messages.EgressDelivered) {
	row := c.state.Row(journal.RowKey(msg.Row))
	if row == nil {
		delete(c.receipts, journal.RowKey(msg.Row))
		c.kept(msg.Row, len(msg.Receipts))
		return
	}
	maybe, requestID, runID := row.Maybe || msg.Maybe, row.RequestID, row.RunID
	fact := journal.EgressSettled{
		Key: row.Key, Outcome: journal.EgressDelivered, Receipts: journal.IDs(msg.Receipts), Orders: journal.Orders(msg.Receipts), Maybe: maybe,
	}
	c.offer(fact)
	delete(c.handed, fact.Key)
	delete(c.delayed, fact.Key)
	delete(c.receipts, fact.Key)
	c.kept(msg.Row, len(msg.Receipts))
	c.firstEgress(runID)
	c.count(CountEgress, fact.Outcome)
	c.audit(AuditEntry{Event: "egress", RequestID: requestID, RunID: runID, Result: fact.Outcome})
	c.answerAsks(journal.RowKey(msg.Row), messages.EgressAnswer{Delivered: true, Parts: len(msg.Receipts)})
	c.retake()
}

func (c *Chat) onEgressFailed(msg messages.EgressFailed) {
	row := c.state.Row(journal.RowKey(msg.Row))
	if row == nil || row.Parked {
		return
	}
	delete(c.handed, row.Key)
	delete(c.delayed, row.Key)
	requestID, runID := row.RequestID, row.RunID
	fact := journal.EgressSettled{Key: row.Key, Outcome: journal.EgressParked, Reason: msg.Reason, Tries: max(msg.Tries, 1), Maybe: row.Maybe || msg.Maybe}
	c.append(fact)
	c.count(CountEgress, fact.Outcome)
	c.audit(AuditEntry{Event: "egress", RequestID: requestID, RunID: runID, Result: fact.Outcome, Reason: msg.Reason})
	c.answerAsks(journal.RowKey(msg.Row), messages.EgressAnswer{Parked: true})
	c.retake()
}

// queueEgress adds a message of a tool call to the outbox. Repeating the call does not add a second row.
func (c *Chat) queueEgress(msg messages.QueueEgress) {
	if key, known := c.rowOfCall(msg); known {
		c.waitFor(key)
		return
	}
	if skipped := c.skip(msg); skipped != "" {
		c.answer(messages.EgressAnswer{Skipped: skipped, Delivered: skipped == "duplicate"})
		return
	}
	row := c.rowFor(msg)
	if msg.RunID == "" {
		c.sayFor(msg, row)
		return
	}
	if !c.via.Outbox {
		// Readers see the call in the history.
		c.sent(msg)
		c.answer(messages.EgressAnswer{Delivered: true, Parts: 1})
		return
	}
	c.wake()
	c.offer(journal.EgressQueued{Row: row})
	c.sent(msg)
	c.deliverRows([]journal.Row{row})
	c.waitFor(row.Key)
}

func (c *Chat) rowFor(msg messages.QueueEgress) journal.Row {
	row := journal.Row{CallID: msg.CallID, Text: msg.Text, ReplyTo: msg.ReplyTo}
	if msg.RunID != "" {
		run := c.state.Run
		row.Key = journal.RowKey{MessageID: run.MessageID, N: c.nextRow()}
		row.RunID, row.RequestID = run.ID, run.RequestID
		if row.ReplyTo == "" {
			row.ReplyTo = c.replyAnchor()
		}
	} else {
		row.Key = journal.RowKey{MessageID: "x:" + msg.CallID, N: 1}
		row.Depth, row.Seq = msg.Depth+1, c.state.Seq
	}
	if c.via.Outbox {
		row.Text = c.paged(row.Key, row.Text)
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
		return key, c.state.Row(key) != nil
	}
	if c.state.Run == nil {
		return journal.RowKey{}, false
	}
	key, ok := c.state.Run.Rows[msg.CallID]
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
	case msg.RunID == "" && c.knowsSaid(msg):
		return "duplicate"
	case msg.RunID == "":
		return ""
	case len(c.state.Run.Rows) >= c.MaxSends:
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
		return f.FileID != "" && !received(c.state.History, f.FileID) && !received(c.state.Lane, f.FileID)
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
		put(&c.run.lastSent, content(msg), true)
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

// waitFor answers a call when its row is settled, or after askWait with the progress so far.
func (c *Chat) waitFor(key journal.RowKey) {
	row := c.state.Row(key)
	if row == nil {
		c.answer(messages.EgressAnswer{Delivered: true})
		return
	}
	if row.Parked {
		c.answer(messages.EgressAnswer{Parked: true, Parts: len(row.Sent)})
		return
	}
	a := ask{who: c.in.Sender, id: len(c.asks[key])}
	put(&c.asks, key, append(slices.Clip(c.asks[key]), a))
	c.timer("ask "+itemID(key)+" "+strconv.Itoa(a.id), askWait, askDue{key})
}

func (c *Chat) answerAsks(key journal.RowKey, answer messages.EgressAnswer) {
	for _, a := range c.asks[key] {
		c.send(a.who, answer)
	}
	delete(c.asks, key)
}

func (c *Chat) onAskDue(msg askDue) {
	if len(c.asks[msg.key]) == 0 {
		return
	}
	parts := 0
	if row := c.state.Row(msg.key); row != nil {
		parts = len(row.Sent)
	}
	c.answerAsks(msg.key, messages.EgressAnswer{Parts: parts})
}

// draftRow returns the row that the text in progress will become. The row is durable before its placeholder is sent,
// so that a crash leaves no orphaned placeholder in the chat.
func (c *Chat) draftRow() journal.RowKey {
	run := c.state.Run
	key := journal.RowKey{MessageID: run.MessageID, N: c.nextRow()}
	if c.state.Row(key) != nil {
		return key
	}
	row := journal.Row{Key: key, RunID: run.ID, RequestID: run.RequestID, Open: true}
	c.append(journal.EgressQueued{Row: row})
	return key
}
