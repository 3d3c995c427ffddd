package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ContextStore reads the archived contexts of chats. It may be used while their chats write; a
// context is visible completely or not at all.
type ContextStore interface {
	// Contexts returns the archived contexts of a chat, the newest first.
	Contexts(ctx context.Context, key messages.ChatKey) ([]journal.ContextItem, error)
	// ReadContext reads one context, or returns [ErrNotFound].
	ReadContext(ctx context.Context, key messages.ChatKey, id string) (journal.Context, error)
}
