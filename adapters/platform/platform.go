// Package platform is the contract between the core and the services where people chat. A platform
// receives messages and hands them to the core as [Inbound]. It acknowledges them to the service
// only after the core has reported that they are durable. It also sends the core's messages, one
// part at a time, and returns receipts.
//
// The core owns order, retries, rate limits and the outbox. A platform sends each part once and
// reports precisely what happened. Implementations live one directory deeper and know nothing of
// actors, histories or each other.
package platform

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Platform is one account on one chat service.
type Platform interface {
	// Name is the first word of the account's chat keys: telegram, telegram@work, web.
	Name() string
	Capabilities() Capabilities
	// Receive takes in messages until ctx ends. A returned error is final: the core logs it, shows
	// the platform as down and continues without it. A platform waits out temporary conditions
	// itself (network failure, another poller) and reports them through Host.Status.
	Receive(ctx context.Context, host Host) error
}

// Host is what the core offers every platform. It is safe for concurrent use.
type Host interface {
	// Accept hands over messages, in order per chat. It returns one result per message once all of
	// them are durable or refused. If a result's error is nil, acknowledge the message to the
	// service. If it is the error of ctx or [ErrUnavailable], hand the message over again later.
	Accept(ctx context.Context, in []Inbound) []Result
	// Status reports the platform's health for readiness checks and status pages.
	Status(up bool, note string)
}

// InboundKind classifies an inbound.
type InboundKind string

// The kinds of inbounds.
const (
	KindMessage InboundKind = "message"
	KindEdit    InboundKind = "edit"    // an edit of the earlier message EditOf
	KindCommand InboundKind = "command" // a command for the host, see Command
	// KindRecalled means that the message EditOf was recalled, possibly by somebody other than its author.
	// The IngressID derives from that message's by [messages.RecallID].
	KindRecalled InboundKind = "taken_back"
)

// Inbound is one action of a person in a chat.
type Inbound struct {
	ChatKey messages.ChatKey
	// IngressID is unique forever within the chat key: the platform's message id, with the edit
	// date for edits. The core drops ids that it has seen.
	IngressID string
	RequestID string // correlation id, made by the platform; one per ingress
	Kind      InboundKind

	Chat      ChatInfo
	Sender    Person
	MessageID string // the platform's id of the message
	ReplyTo   string // the platform's id of the message this one replies to
	// Answers is the message that this one replies to, as far as the platform reported it. It is
	// for reference only and not addressed to the bot. Nil means that nothing is known.
	Answers *uimessage.Quoted
	// ToBot: according to the platform, the message this one replies to is the bot's own.
	ToBot bool
	// Elsewhere: this message replies to something outside this chat.
	Elsewhere bool
	EditOf    string
	Time      time.Time
	// Order is the message's position in the platform's own order, as in [messages.Receipt], or 0
	// if it is not known.
	Order int64

	// TurnID overrides the turn's id. The default is u:<chatKey>:<MessageID>.
	TurnID string
	Text   string
	Parts  []uimessage.Part // in addition to the text, for example files
	// TextAt is the number of parts that precede the text.
	TextAt int
	// Album groups messages that were sent together and arrive next to each other, for example
	// several photos. They become one turn.
	Album string
	// Forwarded: the text was written by somebody else, or arrived through another bot.
	Forwarded bool

	Command Command // set for KindCommand
	Gate    Gate
}

// ChatInfo describes the chat of an inbound.
type ChatInfo struct {
	ID       string
	Type     string // private, group, supergroup, channel, p2p, web, …
	Title    string
	ThreadID string // empty outside threads
}

// Person is a sender, known by the platform's own id.
type Person struct {
	ID    string
	Name  string // display name, for the header of a turn
	IsBot bool
	// Language is the language of the person's client, or of the message or the service where the
	// platform does not report that; it may be empty.
	Language string
}

// Gate is the verdict of a platform's gate. It is a pure function of the message, the settings and
// the set of paired people.
type Gate struct {
	Open   bool // addressed to the bot and allowed: becomes a turn
	Refuse bool // not allowed: declined; if neither is set, the message is ignored
	// Quote: an ignored message that may be quoted later, when somebody addresses the bot.
	Quote bool
	// Decides: an ignored group message from somebody with access that does not address the bot. It
	// still counts if it answers a pending request in that group.
	Decides bool
	// Overheard: an open message that does not address the bot, in a group where the bot listens to
	// everything.
	Overheard bool
	Reason    string // mention, reply, private, all | unaddressed, bot, not_paired, group_not_allowed, …
	// Notice is sent to the chat by the host, for example to people who are not paired yet.
	Notice string
	// Asks accompany the notice; the platform shows them as buttons and alone interprets them.
	Asks []messages.Ask
}

// Command is an instruction from a person to the host.
type Command struct {
	Name string // without the slash: stop, start, status, help, new, …
	Args string
}

// Result is the outcome of an inbound.
type Result struct {
	TurnID string
	// Duplicate: the id was handled before; acknowledge it and do nothing else.
	Duplicate bool
	// Declined says why the core refused the message, for example because a lane is full. The
	// refusal itself is durable.
	Declined string
	// Answer is the host's reply to a command, for platforms that do not send through an outbox.
	Answer string
	Err    error
}

// Sender is a platform that can send. It is safe for concurrent use; the core
// never sends two parts of one chat at a time.
type Sender interface {
	// Plan renders and splits a message into the parts to send, in order. It is pure: the same
	// message always gives the same parts, so that sending can resume at the failed part after a
	// crash.
	Plan(out Outbound) []Part
	// Send sends one part and returns the platform's receipt for the resulting message. If the
	// service refuses the markup, Send immediately sends the plain text instead. Errors are
	// [*Error]; their field Unknown marks those after which the part may have been sent.
	Send(ctx context.Context, to Target, part Part) (messages.Receipt, error)
}

// Editor replaces the text of a sent message.
type Editor interface {
	// Edit is idempotent: an unchanged text is not an error.
	Edit(ctx context.Context, to Target, messageID string, part Part) error
}

// Typer shows that an answer is being prepared. It is best effort.
type Typer interface {
	Typing(ctx context.Context, to Target) error
}

// Target is the destination of a part. It is fixed per chat.
type Target struct {
	ChatKey  messages.ChatKey
	Chat     string // the platform's id of the chat; if empty, the key has it
	Topic    int64  // 0 outside topics
	ChatType string // as last seen; empty if unknown
}

// ChatID returns the platform's id of the chat, from its key if it is not given.
func (t Target) ChatID() string {
	if t.Chat != "" {
		return t.Chat
	}
	to, _ := t.ChatKey.Address()
	return to.Chat
}

// Outbound is one message that the core has to deliver to a chat.
type Outbound struct {
	To Target
	// ID identifies the message forever within its chat. It is empty if the message will never be
	// sent again.
	ID          string
	Text        string // Markdown
	ReplyTo     string
	Attachments []Attachment
	Asks        []messages.Ask // shown as buttons below the text where the platform has buttons
	Draft       bool           // an unfinished text: Plan may return a single part, cut to the limit
}

// Attachment is a file to send.
type Attachment struct {
	Path    string
	FileID  string
	Kind    string // photo, document, voice, audio, video
	Caption string
	// Spoken is the text of a voice message. Platforms that cannot send the voice send the text.
	Spoken string
}

// Part is one message in the form the platform sends.
type Part struct {
	Text       string // plain text, sent if the markup is refused
	Markup     string // rendered markup, or empty
	Rich       string // rendered for a richer message type where the service has one, or empty
	ReplyTo    string
	Attachment *Attachment
	Asks       []messages.Ask
	// ID identifies the part forever if its message has an id. Platforms use it to deliver a part
	// only once however often it is retried. Filling it in is optional.
	ID string
	// Draft marks a part of an unfinished text for platforms that need to know. They may skip such
	// a part, because the finished text always follows. The core does not send edits that would
	// change nothing for drafts without this mark.
	Draft bool
}
