package messages

// What a chat has not delivered yet, and what it parked, is listed and handled through the chat's
// actor with the messages of this file.

// OutboxQuery asks for everything that a chat has not delivered yet or parked. Sent by the host on
// behalf of an operator; answered with [OutboxReply].
type OutboxQuery struct{ ChatKey ChatKey }

// OutboxReply answers [OutboxQuery], the oldest item first.
type OutboxReply struct {
	ChatKey ChatKey
	Items   []OutboxItem
	Err     string // the chat cannot be read now
}

// OutboxItem is one message that is not delivered yet, or parked.
type OutboxItem struct {
	// ID names the item within its chat, for [RetryParked] and [DropParked].
	ID    string
	Kind  OutboxKind
	State OutboxState
	Text  string // the message, perhaps shortened
	Files int
	// Since is when it was queued or parked, in Unix milliseconds.
	Since int64
	// Tries counts the sends that failed, as far as known.
	Tries     int
	LastError string // a reason code, not a text for people
	Parts     int    // delivered parts
	Maybe     bool   // a crash may have hidden a send: people may see it twice
	RequestID string
	From      string // sender of an ingress
	// Unseen are the ids of the requests for approval that people see only with this message.
	Unseen []string
}

// OutboxKind distinguishes messages to people from messages from people.
type OutboxKind string

// The kinds of items.
const (
	OutboxEgress  OutboxKind = "egress"  // a message to people
	OutboxIngress OutboxKind = "ingress" // a message from people that made the chat panic
)

// OutboxState is the progress of an item.
type OutboxState string

// The states of items.
const (
	OutboxWriting OutboxState = "writing" // a draft is shown, the text is not complete
	OutboxWaiting OutboxState = "waiting" // to be sent, or retried
	OutboxParked  OutboxState = "parked"  // until a person retries or drops it
)

// RetryParked takes up a parked item again: an egress is sent from its first undelivered part, an
// ingress is accepted as a new turn. Answered with [ParkedSettled] when that is durable; repeating
// it answers not_parked.
type RetryParked struct {
	ChatKey ChatKey
	By      string
	ID      string // if empty, every parked item
}

// DropParked drops a parked item permanently; the ledger records that. Answered with
// [ParkedSettled].
type DropParked struct {
	ChatKey ChatKey
	By      string
	ID      string // if empty, every parked item
}

// ParkedSettled answers [RetryParked] and [DropParked].
type ParkedSettled struct {
	ChatKey ChatKey
	IDs     []string // of the items that were retried or dropped
	// Reason says why no item was: not_found, not_parked.
	Reason string
	Err    string // nothing was done: the chat cannot be read or written now
}

// EgressDelayed reports that sending a row failed and will be retried. Sent by an adapter actor for
// the outbox list; it may be lost.
type EgressDelayed struct {
	ChatKey ChatKey
	Row     RowID
	Tries   int
	Reason  string
}

func (OutboxQuery) toChat()   {}
func (RetryParked) toChat()   {}
func (DropParked) toChat()    {}
func (EgressDelayed) toChat() {}

func (m OutboxQuery) key() ChatKey   { return m.ChatKey }
func (m RetryParked) key() ChatKey   { return m.ChatKey }
func (m DropParked) key() ChatKey    { return m.ChatKey }
func (m EgressDelayed) key() ChatKey { return m.ChatKey }
