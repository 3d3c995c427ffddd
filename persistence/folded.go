package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// FoldedReader reads what was folded, beside the handle of the chat: an archive is
// written once. It is safe for concurrent use.
type FoldedReader interface {
	// ReadFolded are the turns of an archive, in their order, but for lines that are
	// damaged. One that is not there is [ErrNotFound].
	ReadFolded(ctx context.Context, key messages.ChatKey, archiveID string) ([]uimessage.Message, error)
}
