package machine

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// wordsWait is how long words wait for the receipts of what is being sent. It is
	// short: the platform confirms nothing to its service meanwhile.
	wordsWait = 2 * time.Second
	// pressWait is how long a button waits for the receipts of the row that it is below.
	pressWait = 10 * time.Second
	// pressSpare is what a platform needs to show the answer.
	pressSpare = 300 * time.Millisecond
)

// heldBack are messages of people that wait for receipts: whether they may decide depends
// on the places of messages that are being sent.
type heldBack struct {
	list  []heldMessage
	until map[string]time.Time // by request id
}

type heldMessage struct {
	id     string
	msg    messages.ToChat
	sender Ref
}

// heldDue: a message has waited long enough.
type heldDue struct{}

// holdBack keeps a message until a receipt comes, or for so long; false: it has waited.
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

// letGo takes the messages up again that wait, in their order.
func (c *Chat) letGo() {
	list := c.waits.list
	c.waits.list = nil
	for _, h := range list {
		c.effect(Resend{h.msg, h.sender})
	}
}

// waitForReceipts keeps a message whose words would decide something if what is being
// sent had arrived before it, and what comes behind such a message.
func (c *Chat) waitForReceipts(msg messages.AcceptIngress, turn journal.Turn) bool {
	early := c.via.Outbox && msg.Order != 0 && c.sending() && c.understand(msg, turn).sense == senseUnbound
	behind := len(c.waits.list) > 0 && msg.Verdict == messages.VerdictOpen
	if (early || behind) && c.holdBack(msg.IngressID, msg, wordsWait) {
		return true
	}
	delete(c.waits.until, msg.IngressID)
	return false
}

// sending reports whether a row is on its way whose receipts may come soon.
func (c *Chat) sending() bool {
	return slices.ContainsFunc(c.state.Outbox, func(r journal.OutboxRow) bool { return !r.Parked && !r.Open })
}

// waitToDecide keeps decisions by a button below a row that is not wholly shown.
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

// unseenIn is the row that is to show a request which nothing has shown yet; nil: there
// is no such row. One that waits counts rather than one that was put aside.
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
