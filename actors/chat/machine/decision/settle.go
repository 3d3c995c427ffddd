package decision

import (
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ItemID is the id by which operators refer to a row. A parked turn is referred to by its own id.
func ItemID(key journal.RowKey) string { return key.MessageID + "/" + strconv.Itoa(key.N) }

// Quotes returns how many ignored messages a turn of the chat may quote.
func (b *Base) Quotes() int {
	if b.GroupContext == nil {
		return 0
	}
	return b.GroupContext(b.Key)
}

// maxQuote is how much of an ignored message is kept, in characters.
const maxQuote = 500

// quotable returns what is kept of an ignored message, or empty. The words of people without access are never kept.
func (b *Base) quotable(msg messages.AcceptIngress) string {
	if msg.Verdict != messages.VerdictIgnored || !msg.Quote || msg.Bot || b.Quotes() <= 0 {
		return ""
	}
	for _, p := range msg.Turn.Parts {
		if t, ok := p.(uimessage.Text); ok {
			r := []rune(strings.TrimSpace(t.Text))
			text := string(r[:min(len(r), maxQuote)])
			if msg.Forwarded {
				text = "[forwarded] " + text
			}
			return text
		}
	}
	return ""
}

// Settle settles an ingress that does not become a turn, optionally with words to the chat.
func (b *Base) Settle(msg messages.AcceptIngress, turn journal.Turn, fate journal.Fate, reason, say string) {
	b.SettleWith(msg, turn, fate, reason, journal.Row{Text: say})
}

// SettleWith settles an ingress that does not become a turn, with the words of a row, the files and the requests that
// it shows.
func (b *Base) SettleWith(msg messages.AcceptIngress, turn journal.Turn, fate journal.Fate, reason string, row journal.Row) {
	fact := journal.IngressSettled{Ingress: b.IngressOf(msg, turn), Fate: fate, Reason: reason, Rows: b.HostRow(msg, turn, row.Text)}
	for i := range fact.Rows {
		fact.Rows[i].Attachments, fact.Rows[i].Shows = row.Attachments, row.Shows
	}
	if len(fact.Rows) == 0 && len(row.Shows) > 0 {
		fact.Shows = row.Shows
	}
	b.Offer(fact)
	accepted := messages.IngressAccepted{ChatKey: b.Key, RequestID: msg.RequestID, Answer: b.Directly(msg, row.Text)}
	if fate == journal.FateDeclined {
		accepted.Declined = reason
	}
	b.Answer(accepted)
	b.DeliverRows(fact.Rows)
	b.SettledFrame(turn.ID)
}

// IngressOf returns what the ledger keeps of an ingress. The words of people who did not address the bot are only kept
// if they may be quoted.
func (b *Base) IngressOf(msg messages.AcceptIngress, turn journal.Turn) journal.Ingress {
	in := journal.Ingress{
		ID: msg.IngressID, Seq: turn.Meta.Seq, MessageID: turn.Meta.MessageID,
		UserID: turn.Meta.UserID, Username: turn.Meta.Username, RequestID: msg.RequestID, Depth: turn.Meta.Depth,
	}
	if msg.Verdict == messages.VerdictCommand {
		in.Text = "/" + msg.Command
	} else {
		in.Text = b.quotable(msg)
	}
	return in
}

// InThread reports whether a turn is in a thread that is not a chat of its own. There the bot only sends its replies.
func (b *Base) InThread(turn journal.Turn) bool {
	return b.Addr.Platform != "" && b.Addr.Topic == 0 && turn.Meta.MessageThreadID != ""
}

// ReplyTo returns the message that an answer replies to. In private chats it is empty, except in threads.
func (b *Base) ReplyTo(turn journal.Turn) string {
	if messages.IsPrivate(turn.Meta.ChatType) && !b.InThread(turn) {
		return ""
	}
	return turn.Meta.MessageID
}

// HostRow returns the outbox row for words of the host about an ingress, or nothing in a chat without an outbox.
func (b *Base) HostRow(msg messages.AcceptIngress, turn journal.Turn, say string) []journal.Row {
	if say == "" || !b.Via.Outbox {
		return nil
	}
	row := journal.Row{
		Key: journal.RowKey{MessageID: "h:" + msg.IngressID, N: 1}, RequestID: msg.RequestID, Text: say, ReplyTo: b.ReplyTo(turn),
	}
	for _, a := range msg.Asks {
		row.Asks = append(row.Asks, journal.Ask(a))
	}
	return []journal.Row{row}
}

// ReasonRecalled is the reason of a message that its author recalled, and of the recall itself.
const ReasonRecalled = "taken_back"

// Refuse answers a message whose facts could not be written.
func (b *Base) Refuse(msg any) {
	if answer := Refusal(b.Key, msg); answer != nil {
		b.Answer(answer)
	}
}

// Refusal is the answer to a message that a chat cannot handle, or nil if the message needs no answer.
func Refusal(key messages.ChatKey, msg any) any {
	switch msg := msg.(type) {
	case Commanded:
		return Refusal(key, msg.Msg)
	case messages.AskPassivate:
		return messages.PassivateBusy{ChatKey: key}
	}
	return messages.Refusal(msg, "the chat's data cannot be read or written now")
}

// DeliverRows passes new rows to the adapter. They are already durable, so nothing is lost if the adapter is not
// running.
func (b *Base) DeliverRows(rows []journal.Row) {
	for _, r := range rows {
		if row := b.State.Row(r.Key); row != nil {
			b.Deliver(*row)
		}
	}
}

// Deliver passes a row to the adapter, unless the adapter has it already or the row is still being written.
func (b *Base) Deliver(row journal.OutboxRow) {
	if b.Via.Ref == nil || row.Open || b.Handed[row.Key] {
		return
	}
	Put(&b.Handed, row.Key, true)
	if receipts, sent := b.Receipts[row.Key]; sent {
		b.Effect(Resend{Msg: messages.EgressDelivered{ChatKey: b.Key, Row: messages.RowID(row.Key), Receipts: receipts}})
		return
	}
	d := messages.Deliver{
		ChatKey: b.Key, Row: messages.RowID(row.Key), ChatType: b.ChatType, Text: row.Text, ReplyTo: row.ReplyTo, Sent: row.Sent, Draft: row.Draft,
	}
	for _, a := range row.Attachments {
		d.Files = append(d.Files, messages.FileRef(a))
	}
	for _, a := range row.Asks {
		if answer, _, _ := b.State.HowEnded(a.ApprovalID); a.Digest == "" || answer == journal.AnswerOpen {
			d.Asks = append(d.Asks, messages.Ask(a))
		}
	}
	b.Send(b.Via.Ref, d)
}
