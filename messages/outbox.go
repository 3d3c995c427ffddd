package messages

// What a chat still owes to people, and what it put aside, is seen and settled
// through the chat's actor with the messages of this file.

// OutboxQuery asks for everything that a chat owes or put aside. Sent by the
// host on behalf of an operator; answered with [OutboxReply].
type OutboxQuery struct{ ChatKey ChatKey }

// OutboxReply answers [OutboxQuery], the oldest item first.
type OutboxReply struct {
	ChatKey ChatKey
	Items   []OutboxItem
	Err     string // the chat cannot be read now
}

// OutboxItem is one message that is owed, or put aside.
type OutboxItem struct {
	// ID names the item within its chat, for [RetryParked] and [DropParked].
	ID    string
	Kind  OutboxKind
	State OutboxState
	Text  string // what is owed, or what was put aside; may be cut
	Files int
	// Since is when it became owed or was put aside, in Unix milliseconds.
	Since int64
	// Tries counts the sends that failed, as far as they are known.
	Tries     int
	LastError string // a reason, not a text for people; empty: none
	Parts     int    // parts that are with the platform
	Maybe     bool   // a crash may have hidden a send: it may stand twice
	RequestID string
	From      string // sender of an ingress
	// Unseen are the ids of the requests for approval that people see only with this.
	Unseen []string
}

// OutboxKind tells what is owed to people from what came from them.
type OutboxKind string

// The kinds of items.
const (
	OutboxEgress  OutboxKind = "egress"  // a message to people
	OutboxIngress OutboxKind = "ingress" // a message from people that the chat could not survive
)

// OutboxState is how far an item is.
type OutboxState string

// The states of items.
const (
	OutboxWriting OutboxState = "writing" // a draft is shown, the text is not complete
	OutboxWaiting OutboxState = "waiting" // to be sent, or tried again
	OutboxParked  OutboxState = "parked"  // until a person retries or drops it
)

// RetryParked takes a parked item up again: an egress is sent from the first part
// that is not with the platform, an ingress is accepted as a new turn. Answered with
// [ParkedSettled] when that is durable; doing it twice answers not_parked.
type RetryParked struct {
	ChatKey   ChatKey
	RequestID string
	By        string
	ID        string // empty: every parked item
}

// DropParked gives a parked item up for good; the ledger keeps that. Answered with
// [ParkedSettled].
type DropParked struct {
	ChatKey   ChatKey
	RequestID string
	By        string
	ID        string // empty: every parked item
}

// ParkedSettled answers [RetryParked] and [DropParked].
type ParkedSettled struct {
	ChatKey ChatKey
	IDs     []string // of the items that were taken up or dropped
	// Reason says why nothing was: not_found, not_parked; empty with IDs.
	Reason string
	Err    string // nothing was done: the chat cannot be read or written now
}

// EgressDelayed says: sending a row failed and will be tried again. Sent by an
// adapter actor for those who look at the outbox; it may be lost.
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

// Key implements Addressed.
func (m OutboxQuery) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m RetryParked) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m DropParked) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m EgressDelayed) Key() ChatKey { return m.ChatKey }
