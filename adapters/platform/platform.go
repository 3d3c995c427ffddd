// Package platform is the contract between the core and the places where people
// chat. A platform receives messages and hands them to the core as [Inbound],
// confirming them to the outside only after the core said that they are durable;
// it sends what the core owes to a chat, one part at a time, and reports receipts.
//
// Order, retries, rate limits and the outbox are the core's: a platform sends
// once and says precisely what happened. Implementations are one level deeper
// and know nothing of actors, histories or each other.
package platform

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Platform is one account on one kind of place.
type Platform interface {
	// Name is the first word of the account's chat keys: telegram, telegram@work, web.
	Name() string
	Capabilities() Capabilities
	// Receive takes messages in until ctx ends. An error is final: the core logs
	// it, shows the platform as down and goes on without it. What a platform can
	// wait out (network gone, another poller) it waits out itself and reports
	// through Host.Status.
	Receive(ctx context.Context, host Host) error
}

// Host is what the core offers every platform. It is safe for concurrent use.
type Host interface {
	// Accept hands messages over, in order per chat, and returns one result for
	// each when all are durable or refused. A nil error of a result means: confirm
	// it to the outside. An error of ctx or [ErrUnavailable] means: hand it over again later.
	Accept(ctx context.Context, in []Inbound) []Result
	// Status reports how the platform does, for readiness and status pages.
	Status(up bool, note string)
}

// InboundKind says what an inbound is.
type InboundKind string

// The kinds of inbounds.
const (
	KindMessage InboundKind = "message"
	KindEdit    InboundKind = "edit"    // of an earlier message, named by EditOf
	KindCommand InboundKind = "command" // for the host, see Command
	// KindTakenBack: the message EditOf was taken back, perhaps by somebody else than
	// its author. Its IngressID is that of the message through [messages.TakenBackID].
	KindTakenBack InboundKind = "taken_back"
)

// Inbound is one thing that people did in a chat.
type Inbound struct {
	ChatKey messages.ChatKey
	// IngressID is unique for ever within the chat key: the platform's message
	// id, with the edit date for edits. The core drops ids that it knows.
	IngressID string
	RequestID string // correlation id, made by the platform; one per ingress
	Kind      InboundKind

	Chat      ChatInfo
	Sender    Person
	MessageID string // the platform's id of the message
	ReplyTo   string // the platform's id of the message it answers
	// Answers is that message as far as the platform told it: reference, and nobody's
	// words to us. Nil: nothing is known.
	Answers *uimessage.Quoted
	// ToBot: the platform says that the message it answers is the bot's own.
	ToBot bool
	// Elsewhere: it answers something that is not in this chat.
	Elsewhere bool
	EditOf    string
	Time      time.Time
	// Order is the message's place in the platform's own order, as in [messages.Receipt];
	// 0: not known.
	Order int64
	// Self is the name by which people mention the bot in texts, without the @; empty:
	// it has none, or the platform has taken it out of the text.
	Self string

	// TurnID overrides the turn's id, which is u:<chatKey>:<MessageID> otherwise.
	TurnID string
	Text   string
	Parts  []uimessage.Part // besides the text, for example files
	// TextAt is how many of the parts come before the text.
	TextAt int
	// Album is set for a message that belongs together with others which come right
	// before or after it, as several photos sent at once: they become one turn.
	Album string
	// Forwarded: the words were somebody else's first, or came through another bot.
	Forwarded bool

	Command Command // of KindCommand
	Gate    Gate
}

// ChatInfo describes the chat of an inbound.
type ChatInfo struct {
	ID       string
	Type     string // private, group, supergroup, channel, p2p, web, …
	Title    string
	ThreadID string // empty: none
}

// Person is a sender, known by the platform's own id.
type Person struct {
	ID    string
	Name  string // what people see, for the header of a turn
	IsBot bool
	Admin bool // administers the chat, as the platform says; false also when nobody asked it
	// Language is that of the person's client; empty: the platform does not tell it.
	Language string
}

// Gate is the verdict of a platform's gate: a pure function of the message, the
// settings and who is paired.
type Gate struct {
	Open   bool // addressed and allowed: becomes a turn
	Refuse bool // not allowed: declined; otherwise a closed gate means ignored
	// Quote: an ignored message that may be quoted later, when somebody addresses the bot.
	Quote bool
	// Decides: an ignored message of somebody who is let in, in a group where it does not
	// turn to the bot. It counts all the same if it answers a request that waits there.
	Decides bool
	// Overheard: an open message that does not turn to the bot, in a group where it
	// hears everything.
	Overheard bool
	Reason    string // mention, reply, private, all | unaddressed, bot, not_paired, group_not_allowed, …
	// Notice is sent to the chat by the host, for example to people not paired yet.
	Notice string
	// Asks go with the notice, for the platform to show as buttons; what they mean is
	// its own business.
	Asks []messages.Ask
}

// Command is a person's order to the host.
type Command struct {
	Name string // without the slash: stop, start, status, help, new, …
	Args string
}

// Result is what became of an inbound.
type Result struct {
	TurnID string
	// Duplicate: the id was handled before; confirm it, do nothing.
	Duplicate bool
	// Declined says why the core refused it, for example a full lane. It is durable as such.
	Declined string
	// Answer is what the host says to a command, where nothing is sent through an outbox.
	Answer string
	Err    error
}

// Sender is a platform that can send. It is safe for concurrent use; the core
// never sends two parts of one chat at a time.
type Sender interface {
	// Plan renders and splits a message into the parts to send, in order. It is
	// pure: the same message always gives the same parts, so that a crash in the
	// middle resumes at the failed part.
	Plan(out Outbound) []Part
	// Send sends one part and returns the platform's receipt of the message it made.
	// When the service refuses the markup it sends the plain text instead, at once.
	// Errors are [*Error]; Unknown marks those after which it may have been sent.
	Send(ctx context.Context, to Target, part Part) (messages.Receipt, error)
}

// Editor replaces the text of a message that was sent.
type Editor interface {
	// Edit is idempotent: an unchanged text is no error.
	Edit(ctx context.Context, to Target, messageID string, part Part) error
}

// Typer shows that an answer is being made. It is best effort.
type Typer interface {
	Typing(ctx context.Context, to Target) error
}

// Target is where a part goes. It is fixed per chat.
type Target struct {
	ChatKey  messages.ChatKey
	Chat     string // the platform's id of the chat
	Topic    int64  // 0: none
	ChatType string // as last seen; empty: unknown
}

// Outbound is one message that the core owes to a chat.
type Outbound struct {
	To Target
	// ID names the message for ever, within its chat; empty: nobody will send it again.
	ID          string
	Text        string // Markdown
	ReplyTo     string
	Attachments []Attachment
	Asks        []messages.Ask // to answer by buttons below the text, where there are any
	Draft       bool           // an unfinished text: Plan may give one part only, cut to the limit
}

// Attachment is a file to send.
type Attachment struct {
	Path    string
	FileID  string
	Kind    string // photo, document, voice, audio, video
	Caption string
	// Spoken are the words of a voice: who is not reached by the one is sent the other.
	Spoken string
}

// Part is one message as the platform takes it.
type Part struct {
	Text       string // plain text, sent when the markup is refused
	Markup     string // rendered; empty: none
	Rich       string // rendered for a richer kind of message, where there is one; empty: none
	ReplyTo    string
	Attachment *Attachment
	Asks       []messages.Ask
	// ID names the part for ever, where the message has one: what a platform needs
	// to send it once however often it is tried. Optional to fill in.
	ID string
	// Draft marks a part of an unfinished text, where the platform has to know: it may
	// leave such a part out, and hears of the finished one in any case. Of a draft that is
	// not marked so the core makes no edit which would change nothing.
	Draft bool
}
