package messages

import "encoding/json"

// ShowRequest asks a private chat to show its person a request of another chat. That chat sends it
// until it is answered with [RequestShown]; a repeated one is only answered.
type ShowRequest struct {
	ChatKey ChatKey // the private chat
	Request ReferredRequest
	// Quiet is set if the person asked for a list and sees the request there.
	Quiet bool
}

// ReferredRequest is a request of another chat, as it is shown to a person.
type ReferredRequest struct {
	From       ChatKey // the chat where it arose, which alone decides it
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
	// FilesIn is the folder whose files the person may allow for a time. If empty, they can only decide
	// about the request.
	FilesIn string

	// Person is the platform's id of the person who may decide, ChatType the type of their private
	// chat.
	Person, ChatType string
	// Asker is who caused the request; AskerName and ChatTitle are display names.
	Asker, AskerName, ChatTitle string
	Group, Task                 bool
	TaskTitle                   string // of the task whose request it is
	InChinese                   bool   // requests of that chat are in Chinese
}

// RequestShown answers [ShowRequest]: the private chat has made it durable.
type RequestShown struct {
	ChatKey    ChatKey // where the request arose
	From       ChatKey // the private chat
	ApprovalID string
}

// EndRequest tells a private chat how a request that it shows ended. Sent until it is answered with
// [RequestEnded].
type EndRequest struct {
	ChatKey    ChatKey // the private chat
	From       ChatKey // where the request arose
	ApprovalID string
	Answer     string
	By, ByName string
	// Via is the id of the private chat's message that decided it; empty if none did.
	Via string
}

// RequestEnded answers [EndRequest]: the private chat has made it durable.
type RequestEnded struct {
	ChatKey    ChatKey
	From       ChatKey
	ApprovalID string
}

// DecideReferred carries a person's decisions, made in their private chat, about requests of
// another chat, which checks whether they may decide. Answered with [ReferredDecided] once that is
// durable. It may be repeated.
type DecideReferred struct {
	ChatKey   ChatKey // where the requests arose
	From      ChatKey // the private chat
	ID        string  // of the message or the button press, for the answer
	Via       string  // the message's id; empty for a button
	RequestID string
	By        Asker
	Say       []Decision
	// Rules apply for Minutes; without rules the decisions cover the requests alone.
	Rules   []string
	Minutes int
	// Folders is set if the person allows the folders of the files as well.
	Folders bool
}

// ReferredDecided answers [DecideReferred].
type ReferredDecided struct {
	ChatKey  ChatKey // the private chat
	From     ChatKey // where the requests arose
	ID       string
	Outcomes []DecisionOutcome
	// Unknown is set if it cannot be determined now whether the person administers the group.
	Unknown bool
	Err     string // nothing was decided; try again later
}

// ReferRequests asks a chat to have its open requests shown in the private chat of a person who may
// decide them. Sent by the host when that person lists all pending requests; answered with
// [RequestsReferred].
type ReferRequests struct {
	ChatKey ChatKey
	To      ChatKey
	Person  string
}

// RequestsReferred answers [ReferRequests], once the private chat has all requests of the chat that
// the person may decide. Others is the number of the remaining requests.
type RequestsReferred struct {
	ChatKey ChatKey
	Others  int
	Err     string
}

// OutcomesShown reports that a message with buttons shows the outcomes of its requests so far. Sent
// by an adapter actor.
type OutcomesShown struct {
	ChatKey ChatKey
	Row     RowID
	Ended   int // how many of its requests it shows as ended
	// Retry is set if the message could not be changed now. Otherwise it shows the outcomes, or never
	// will.
	Retry bool
}

// ShowOutcomes replaces buttons with the outcomes of their requests. The chat sends it until
// [OutcomesShown] arrives.
type ShowOutcomes struct {
	ChatKey   ChatKey
	Row       RowID
	ChatType  string
	MessageID string // the platform's id of the message with the buttons
	Text      string // of the whole row
	Asks      []AskOutcome
	Ended     int
}

// AskOutcome is a request of a message, and its outcome.
type AskOutcome struct {
	Ask

	Answer     string // approved, denied, expired, withdrawn; empty while open
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

func (m ShowRequest) key() ChatKey     { return m.ChatKey }
func (m RequestShown) key() ChatKey    { return m.ChatKey }
func (m EndRequest) key() ChatKey      { return m.ChatKey }
func (m RequestEnded) key() ChatKey    { return m.ChatKey }
func (m DecideReferred) key() ChatKey  { return m.ChatKey }
func (m ReferredDecided) key() ChatKey { return m.ChatKey }
func (m ReferRequests) key() ChatKey   { return m.ChatKey }
func (m OutcomesShown) key() ChatKey   { return m.ChatKey }
