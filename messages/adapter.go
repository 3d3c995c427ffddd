package messages

import "github.com/shipmyagent/shipmyagent/messages/uistream"

// ToAdapter is everything that reaches an adapter actor.
//
//sumtype:decl
type ToAdapter interface{ toAdapter() }

// Deliver sends one outbox row to its chat's people, in order per chat. Sent by
// the chat when the row is durable; a row that is under way already is not begun
// again. Answered, through the chat's shard, with [EgressProgressed],
// [EgressDelivered] or [EgressFailed].
type Deliver struct {
	ChatKey  ChatKey
	Row      RowID
	ChatType string
	Text     string
	ReplyTo  string
	Files    []FileRef
	Sent     []Receipt // parts that are there already
	Draft    Receipt   // the placeholder to edit into the first part; without an id: none
	Asks     []Ask     // requests to answer by buttons, where there are any
}

// Receipt is a message of the bot's as the platform has it.
type Receipt struct {
	ID string
	// Order is its place in the platform's own order of the chat's messages, which is
	// never that of clocks: a message with a higher one came later. 0: not known. The
	// bits above [OrderBits] say in which of the chat's places it is: where a platform
	// moves a chat, its message ids begin anew.
	Order int64
}

// OrderBits are the bits of an order that count within one place.
const OrderBits = 48

// Ask is a request for approval that people may answer by buttons, or one button that
// gives an order to the host.
type Ask struct {
	N          int
	ApprovalID string
	Digest     string
	// Order is what the button gives in the name of who presses it, as if they had sent it
	// after a slash, for example "tasks cancel 2"; at most [MaxOrder] bytes. Label is what is
	// on the button; a platform's own ask says there what it asks about. Those of the same N are in one row.
	Order, Label string
	Chinese      bool // its buttons speak Chinese
}

// MaxOrder is the longest order of a button, in bytes.
const MaxOrder = 60

// EgressKept says: the chat knows, durably, what [EgressProgressed] or
// [EgressDelivered] told of a row. The adapter begins no other send of the chat
// before it hears so, which makes a crash hide one send at most. It may come twice.
type EgressKept struct {
	ChatKey ChatKey
	Row     RowID
	Parts   int // of the row that are there; 0: its placeholder
}

// ShowDraft shows a text under way. It may be lost; the newest wins.
type ShowDraft struct {
	ChatKey  ChatKey
	Row      RowID
	ChatType string
	Text     string
	ReplyTo  string  // the message that it answers, as the finished text will; empty: none
	Draft    Receipt // the placeholder, if one is known from before a restart
}

// ShowTyping shows that an answer is being made. It may be lost.
type ShowTyping struct {
	ChatKey  ChatKey
	ChatType string
}

// Mark is a small sign on a person's message of what became of it.
type Mark string

// The marks.
const (
	MarkNone   Mark = ""
	MarkSeen   Mark = "seen"   // taken: its run starts, or it waits
	MarkMerged Mark = "merged" // the run under way has it
)

// ShowMark marks a person's message. It may be lost; the newest of a message wins.
type ShowMark struct {
	ChatKey   ChatKey
	ChatType  string
	MessageID string
	Mark      Mark
}

// ChatProgressed is one frame of a watched chat; see the platform contract's Frame.
type ChatProgressed struct {
	ChatKey   ChatKey
	WatchID   string
	Kind      string
	RunID     string
	MessageID string
	Sees      []string
	Chunks    []uistream.Chunk
	Replay    bool
	Last      bool
	Result    string
	Settled   []string
	Event     string
	Step      int
	Text      string
}

// WatchEnded says: the chat's activation ended; watch again.
type WatchEnded struct {
	ChatKey ChatKey
	WatchID string
}

func (Deliver) toAdapter()        {}
func (EgressKept) toAdapter()     {}
func (ShowDraft) toAdapter()      {}
func (ShowTyping) toAdapter()     {}
func (ShowMark) toAdapter()       {}
func (ChatProgressed) toAdapter() {}
func (WatchEnded) toAdapter()     {}
func (Drain) toAdapter()          {}
