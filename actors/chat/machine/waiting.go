package machine

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

// heldBack are messages of people that wait for receipts, because what they decide depends on the positions of rows
// that are being sent.
type heldBack struct {
	list  []heldMessage
	until map[string]time.Time // by request id
}

type heldMessage struct {
	id     string
	msg    messages.ToChat
	sender Ref
}

// heldDue is the timer message for a message that has waited long enough.
type heldDue struct{}

// holdBack keeps a message until a receipt arrives or the wait is over. It returns false if the message has already
// waited.
func (c *Chat) holdBack(id string, msg messages.ToChat, wait time.Duration) bool {
	until, known := c.waits.until[id]
	switch {
	case known && !c.now().Before(until):
		return false
	case !known:
		put(&c.waits.until, id, c.now().Add(wait))
		c.timer("held "+id, wait, heldDue{})
	}
	c.waits.list = append(c.waits.list, heldMessage{id, msg, c.in.Sender})
	return true
}

// retake sends the waiting messages to the chat again, in their order.
func (c *Chat) retake() {
	list := c.waits.list
	c.waits.list = nil
	for _, h := range list {
		c.effect(Resend{h.msg, h.sender})
	}
}

// waitForReceipts holds back a message whose words would be a decision if the rows being sent had arrived before it,
// and every message that arrives after such a message.
func (c *Chat) waitForReceipts(msg messages.AcceptIngress, turn journal.Turn) bool {
	early := c.via.Outbox && msg.Order != 0 && c.sending() && c.understand(msg, turn).Sense == ruling.Unbound
	behind := len(c.waits.list) > 0 && msg.Verdict == messages.VerdictOpen
	if (early || behind) && c.holdBack(msg.IngressID, msg, wordsWait) {
		return true
	}
	delete(c.waits.until, msg.IngressID)
	return false
}

// sending reports whether a row is being sent whose receipts may arrive soon.
func (c *Chat) sending() bool {
	return slices.ContainsFunc(c.state.Outbox, func(r journal.OutboxRow) bool { return !r.Parked && !r.Open })
}

// waitToDecide holds back button presses on a row that is not yet completely shown.
func (c *Chat) waitToDecide(msg messages.DecideApproval) bool {
	wait := pressWait
	if msg.Wait > 0 {
		wait = min(wait, msg.Wait-pressSpare)
	}
	early := !isOwn(msg.By.Platform) && slices.ContainsFunc(msg.Say, func(d messages.Decision) bool {
		row := c.unseenIn(d.ApprovalID)
		return row != nil && !row.Parked
	})
	if early && wait > 0 && c.holdBack(msg.RequestID, msg, wait) {
		return true
	}
	delete(c.waits.until, msg.RequestID)
	return false
}

// unseenIn returns the row that will show a request which has not been shown yet, or nil. A pending row is preferred
// to a parked one.
func (c *Chat) unseenIn(approvalID string) *journal.OutboxRow {
	return unseenIn(c.state, approvalID)
}

func unseenIn(s *journal.State, approvalID string) *journal.OutboxRow {
	if slices.ContainsFunc(s.Shown, func(o journal.Showing) bool { return slices.Contains(o.Requests, approvalID) }) {
		return nil
	}
	var found *journal.OutboxRow
	for i := range s.Outbox {
		row := &s.Outbox[i]
		asks := slices.ContainsFunc(row.Asks, func(a journal.Ask) bool { return a.ApprovalID == approvalID })
		if (asks || slices.Contains(row.Shows, approvalID)) && (found == nil || found.Parked && !row.Parked) {
			found = row
		}
	}
	return found
}
