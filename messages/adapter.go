package messages

import "github.com/shipmyagent/shipmyagent/messages/uistream"

// ToAdapter is everything that reaches an adapter actor.
//
//sumtype:decl
type ToAdapter interface{ toAdapter() }

// Deliver sends one outbox row to a chat, in order per chat. The chat sends it when the row is
// durable; a row that is already being sent is not started again. Answered, through the chat's
// shard, with [EgressProgressed], [EgressDelivered] or [EgressFailed].
type Deliver struct {
	ChatKey  ChatKey
	Row      RowID
	ChatType string
	Text     string
	ReplyTo  string
	Files    []FileRef
	Sent     []Receipt // parts that were already delivered
	Draft    Receipt   // the placeholder to edit into the first part; without an id there is no placeholder
	Asks     []Ask     // requests to answer by buttons
}

// Receipt identifies one of the bot's messages on the platform.
type Receipt struct {
	ID string
	// Order is the message's position in the platform's own order of the chat's messages, which does
	// not depend on clocks: a message with a higher order is later. It is 0 if unknown. The bits
	// above [OrderBits] distinguish the addresses a chat has had: message ids restart when a platform
	// moves a chat.
	Order int64
}

// OrderBits is the number of low bits that order messages within one address of a chat.
const OrderBits = 48

// Ask is a request for approval that people may answer by buttons, or one button that gives a
// command to the host.
type Ask struct {
	N          int
	ApprovalID string
	Digest     string
	// Order is the command that the button sends in the name of the person who presses it, without
	// the slash, for example "tasks cancel 2"; at most [MaxOrder] bytes. Label is the text of the
	// button; on a request for approval the platform chooses the text. Buttons with the same N are in
	// one row.
	Order, Label string
	Chinese      bool // the buttons are labelled in Chinese
}

// MaxOrder is the longest command of a button, in bytes.
const MaxOrder = 60

// EgressKept confirms that the chat has made durable what [EgressProgressed] or [EgressDelivered]
// reported about a row. The adapter starts no other send of the chat before it receives this, so
// that a crash hides at most one send. It may be sent twice.
type EgressKept struct {
	ChatKey ChatKey
	Row     RowID
	Parts   int // delivered parts of the row; 0 for its placeholder
}

// ForgetRows says that everything stored about a chat was deleted: what waits to be sent there is
// dropped. A call in progress still ends, but is not repeated.
type ForgetRows struct{ ChatKey ChatKey }

// ShowDraft shows a text that is still being written. It may be lost; the newest wins.
type ShowDraft struct {
	ChatKey  ChatKey
	Row      RowID
	ChatType string
	Text     string
	ReplyTo  string  // the message that it replies to, as the finished text will; may be empty
	Draft    Receipt // the placeholder, if one is known from before a restart
}

// ShowTyping shows that an answer is being written. It may be lost.
type ShowTyping struct {
	ChatKey  ChatKey
	ChatType string
}

// Mark is a reaction on a person's message that shows its state.
type Mark string

// The marks.
const (
	MarkNone   Mark = ""
	MarkSeen   Mark = "seen"   // accepted: its run starts, or it is queued
	MarkMerged Mark = "merged" // merged into the current run
)

// ShowMark marks a person's message. It may be lost; the newest of a message wins.
type ShowMark struct {
	ChatKey   ChatKey
	ChatType  string
	MessageID string
	Mark      Mark
}

// ChatProgressed is one frame of a watched chat; see Frame in the platform contract.
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

// WatchEnded reports that the chat's activation ended; the receiver has to watch again.
type WatchEnded struct {
	ChatKey ChatKey
	WatchID string
}

func (Deliver) toAdapter()        {}
func (EgressKept) toAdapter()     {}
func (ForgetRows) toAdapter()     {}
func (ShowDraft) toAdapter()      {}
func (ShowTyping) toAdapter()     {}
func (ShowMark) toAdapter()       {}
func (ChatProgressed) toAdapter() {}
func (WatchEnded) toAdapter()     {}
func (Drain) toAdapter()          {}
