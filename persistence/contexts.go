package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ContextStore reads the archived contexts of chats. It may be used while their
// chats write, and sees a context wholly or not at all.
type ContextStore interface {
	// Contexts are the archived contexts of a chat, the newest first.
	Contexts(ctx context.Context, key messages.ChatKey) ([]journal.ContextItem, error)
	// ReadContext reads one back; [ErrNotFound] if there is none of that id.
	ReadContext(ctx context.Context, key messages.ChatKey, id string) (journal.Context, error)
}
