package messages

import "encoding/json"

// ShowRequest asks a private chat to show its person a request of another chat. Sent by
// that chat until it is answered with [RequestShown]; one that comes again does nothing
// but that.
type ShowRequest struct {
	ChatKey ChatKey // the private chat
	Request ReferredRequest
	// Quiet: the person asked for a list and is shown the request there.
	Quiet bool
}

// ReferredRequest is a request of another chat as its person is shown it.
type ReferredRequest struct {
	From       ChatKey // where it arose, and who alone decides what becomes of it
	ApprovalID string
	CallID     string
	Digest     string
	Asked      int64 // unix milliseconds
	Expires    int64 // unix milliseconds
	Tool       string
	Title      string
	Input      json.RawMessage

	Words, Chinese               Words // what people read, in English and in Chinese
	Exact, Command, Folder, Bind string

	// Person may decide, by the platform's id, and ChatType is that of their private chat.
	Person, ChatType string
	// Asker is who asked, AskerName and ChatTitle are what people call them and the chat.
	Asker, AskerName, ChatTitle string
	Group, Task                 bool
	TaskTitle                   string // of the task whose request it is
	InChinese                   bool   // people of that chat are asked in Chinese
}

// RequestShown answers [ShowRequest]: the private chat has it, durably.
type RequestShown struct {
	ChatKey    ChatKey // where the request arose
	From       ChatKey // the private chat
	ApprovalID string
}

// EndRequest tells a private chat how a request ended that it shows. Sent until it is
// answered with [RequestEnded].
type EndRequest struct {
	ChatKey    ChatKey // the private chat
	From       ChatKey // where the request arose
	ApprovalID string
	Answer     string
	By, ByName string
	// Via is the id of the private chat's own message that decided it; empty: none did.
	Via string
}

// RequestEnded answers [EndRequest]: the private chat knows, durably.
type RequestEnded struct {
	ChatKey    ChatKey
	From       ChatKey
	ApprovalID string
}

// DecideReferred brings what a person said in their private chat about requests of
// another chat, which looks whether they may decide. Answered with [ReferredDecided]
// once that is durable. It may come again.
type DecideReferred struct {
	ChatKey   ChatKey // where the requests arose
	From      ChatKey // the private chat
	ID        string  // of the message or the press, for the answer
	Via       string  // the message's id; empty: it was a button
	RequestID string
	By        Asker
	Say       []Decision
	// Rules are to count for so many minutes; none: the decisions are about the requests alone.
	Rules   []string
	Minutes int
}

// ReferredDecided answers [DecideReferred].
type ReferredDecided struct {
	ChatKey  ChatKey // the private chat
	From     ChatKey // where the requests arose
	ID       string
	Outcomes []DecisionOutcome
	// Unknown: nobody can tell now whether the person administers the group.
	Unknown bool
	Err     string // nothing was taken; try again later
}

// ReferRequests asks a chat to have its open requests shown in the private chat of
// somebody who may decide about them. Sent by the host when that person wants to see all
// that waits; answered with [RequestsReferred].
type ReferRequests struct {
	ChatKey ChatKey
	To      ChatKey
	Person  string
}

// RequestsReferred answers [ReferRequests], once the private chat has all requests of the
// chat that the person may decide about. Others is how many there are beside them.
type RequestsReferred struct {
	ChatKey ChatKey
	Others  int
	Err     string
}

// OutcomesShown says: a message with buttons shows how its requests ended, as far as
// they have. Sent by an adapter actor.
type OutcomesShown struct {
	ChatKey ChatKey
	Row     RowID
	Ended   int // how many of its requests it shows as ended
	// Retry: it could not be changed now. Otherwise it shows them, or never will.
	Retry bool
}

// ShowOutcomes puts in the place of buttons how requests ended. Sent by the chat until
// [OutcomesShown] comes.
type ShowOutcomes struct {
	ChatKey   ChatKey
	Row       RowID
	ChatType  string
	MessageID string // the platform's id of the message with the buttons
	Text      string // of the whole row
	Asks      []AskOutcome
	Ended     int
}

// AskOutcome is a request below a message, and how it ended.
type AskOutcome struct {
	Ask

	Answer     string // approved, denied, expired, withdrawn; empty: it is open
	By, ByName string // who decided, as <platform>-<userId> and by name
}

func (ShowRequest) toChat()     {}
func (RequestShown) toChat()    {}
func (EndRequest) toChat()      {}
func (RequestEnded) toChat()    {}
func (DecideReferred) toChat()  {}
func (ReferredDecided) toChat() {}
func (ReferRequests) toChat()   {}
func (OutcomesShown) toChat()   {}
func (ShowOutcomes) toAdapter() {}

// Key implements Addressed.
func (m ShowRequest) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m RequestShown) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m EndRequest) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m RequestEnded) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m DecideReferred) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m ReferredDecided) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m ReferRequests) Key() ChatKey { return m.ChatKey }

// Key implements Addressed.
func (m OutcomesShown) Key() ChatKey { return m.ChatKey }
