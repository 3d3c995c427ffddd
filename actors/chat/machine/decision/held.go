package decision

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Held are messages of people that wait for receipts, because what they decide depends on the positions of rows
// that are being sent.
type Held struct {
	list  []Resend
	until map[string]time.Time // by request id
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
	b.Waits.list = append(b.Waits.list, Resend{msg, b.In.Sender})
	return true
}

// Retake has the waiting messages decided again, in their order and before any other.
func (b *Base) Retake() {
	list := b.Waits.list
	b.Waits.list = nil
	for _, e := range list {
		b.Effect(e)
	}
}

// Waiting returns the messages that the chat holds back.
func (b *Base) Waiting() []Resend { return b.Waits.list }

// Release forgets that a message was held back.
func (b *Base) Release(id string) { delete(b.Waits.until, id) }

// Len returns how many messages are held back.
func (h Held) Len() int { return len(h.list) }
