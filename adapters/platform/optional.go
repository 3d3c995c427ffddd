package platform

import (
	"context"
	"errors"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Marker marks people's messages with a small sign of what became of them. It is
// best effort: nobody waits for a mark.
type Marker interface {
	// Mark puts a mark in the place of the one before; [messages.MarkNone] takes it
	// away. Where marks are not wanted it does nothing.
	Mark(ctx context.Context, to Target, messageID string, mark messages.Mark) error
}

// Named knows what its bot is called.
type Named interface {
	// Bot is the bot's name as people read it, and a link that opens a talk with it. Both
	// are empty until the service has said who the bot is; the link is where it has none.
	Bot() (name, link string)
}

// Outcomer shows in the place of a message's buttons how the requests ended that it asks
// about.
type Outcomer interface {
	// ShowOutcomes is idempotent: what is shown already is no error. Part is the part of
	// the message with the buttons, as it was planned. Errors are [*Error].
	ShowOutcomes(ctx context.Context, to Target, messageID string, part Part, asks []messages.AskOutcome) error
}

// ErrNoDraft means that a chat shows no drafts of a [Drafter]'s kind.
var ErrNoDraft = errors.New("the chat shows no drafts")

// Drafter shows a text under way where it is no message, so that the finished text is
// one of its own. Where it cannot, an [Editor] shows it.
type Drafter interface {
	// TakesDrafts says whether a chat shows drafts, as far as is known. It asks nobody.
	TakesDrafts(to Target) bool
	// Draft shows the text. id names what becomes of it, and the same id replaces what
	// was shown. [ErrNoDraft]: this chat does not, and will not be tried for a while.
	Draft(ctx context.Context, to Target, id string, part Part) error
}
