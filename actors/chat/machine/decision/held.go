package decision

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Held are messages of people that wait for receipts, because what they decide depends on the positions of rows
// that are being sent.
type Held struct {
	list  []heldMessage
	until map[string]time.Time // by request id
}

type heldMessage struct {
	id     string
	msg    messages.ToChat
	sender Ref
}

// HeldDue is the timer message for a message that has waited long enough.
type HeldDue struct{}

// HoldBack keeps a message until a receipt arrives or the wait is over. It returns false if the message has already
// waited.
func (b *Base) HoldBack(id string, msg messages.ToChat, wait time.Duration) bool {
	until, known := b.Waits.until[id]
	switch {
	case known && !b.Now().Before(until):
		return false
	case !known:
		Put(&b.Waits.until, id, b.Now().Add(wait))
		b.Timer("held "+id, wait, HeldDue{})
	}
	b.Waits.list = append(b.Waits.list, heldMessage{id, msg, b.In.Sender})
	return true
}

// Retake sends the waiting messages to the chat again, in their order.
func (b *Base) Retake() {
	list := b.Waits.list
	b.Waits.list = nil
	for _, h := range list {
		b.Effect(Resend{h.msg, h.sender})
	}
}

// Waiting calls f for each message that the chat holds back, with its sender.
func (b *Base) Waiting(f func(msg messages.ToChat, sender Ref)) {
	for _, h := range b.Waits.list {
		f(h.msg, h.sender)
	}
}

// Release forgets that a message was held back.
func (b *Base) Release(id string) { delete(b.Waits.until, id) }

// Len returns how many messages are held back.
func (h Held) Len() int { return len(h.list) }
