package chat

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// archive is the part of the store that a chat reads while it decides.
type archive struct {
	persistence.Chat
	all persistence.Store
	key messages.ChatKey
}

// Contexts implements [machine.Archive].
func (a archive) Contexts(ctx context.Context) ([]journal.ContextItem, error) {
	return a.all.Contexts(ctx, a.key)
}

// ReadContext implements [machine.Archive].
func (a archive) ReadContext(ctx context.Context, id string) (journal.Context, error) {
	return a.all.ReadContext(ctx, a.key, id)
}
