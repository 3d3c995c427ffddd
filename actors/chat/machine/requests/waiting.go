package requests

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// wordsWait is how long a message waits for the receipts of rows being sent. It is short because the platform does
	// not confirm the message to its service in the meantime.
	wordsWait = 2 * time.Second
	// pressWait is how long a button press waits for the receipts of its row.
	pressWait = 10 * time.Second
	// pressSpare is the time a platform needs to show the answer.
	pressSpare = 300 * time.Millisecond
)

// WaitForReceipts holds back a message whose words would be a decision if the rows being sent had arrived before it,
// and every message that arrives after such a message.
func (q *Requests) WaitForReceipts(msg messages.AcceptIngress, turn journal.Turn) bool {
	early := q.Via.Outbox && msg.Order != 0 && q.sending() && q.understand(msg, turn).Sense == ruling.Unbound
	behind := q.Waits.Len() > 0 && msg.Verdict == messages.VerdictOpen
	if (early || behind) && q.HoldBack(msg.IngressID, msg, wordsWait) {
		return true
	}
	q.Release(msg.IngressID)
	return false
}

// sending reports whether a row is being sent whose receipts may arrive soon.
func (q *Requests) sending() bool {
	return slices.ContainsFunc(q.State.Outbox, func(r journal.OutboxRow) bool { return !r.Parked && !r.Open })
}
