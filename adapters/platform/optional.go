package platform

import (
	"context"
	"errors"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Marker marks people's messages with a small symbol of their outcome. It is best effort; nothing
// waits for a mark.
type Marker interface {
	// Mark replaces the previous mark; [messages.MarkNone] removes it. It does nothing where marks
	// are disabled.
	Mark(ctx context.Context, to Target, messageID string, mark messages.Mark) error
}

// Named is a platform that knows its bot's name.
type Named interface {
	// Bot returns the bot's display name and a link that opens a chat with it. Both are empty until
	// the service has reported the bot's identity; link is also empty if the bot has none.
	Bot() (name, link string)
}

// Mentioned is a platform where people mention the bot by a name in texts.
type Mentioned interface {
	// Username returns the name without the @. It is empty until the service has reported it.
	Username() string
}

// Outcomer replaces the buttons of a message with the outcomes of the requests that it asks about.
type Outcomer interface {
	// ShowOutcomes is idempotent: an outcome that is already shown is not an error. part is the
	// part of the message that carries the buttons, as planned. Errors are [*Error].
	ShowOutcomes(ctx context.Context, to Target, messageID string, part Part, asks []messages.AskOutcome) error
}

// ErrNoDraft means that a chat does not support drafts of a [Drafter]'s kind.
var ErrNoDraft = errors.New("the chat shows no drafts")

// Drafter shows unfinished text outside the messages, so that the finished text is a message of its
// own. Chats without such drafts fall back to an [Editor].
type Drafter interface {
	// TakesDrafts reports whether a chat supports drafts, as far as is known. It makes no request.
	TakesDrafts(to Target) bool
	// Draft shows the text. id identifies the draft: calling again with the same id replaces its
	// text. [ErrNoDraft] means that this chat does not support drafts and that they will not be
	// tried for a while.
	Draft(ctx context.Context, to Target, id string, part Part) error
}
