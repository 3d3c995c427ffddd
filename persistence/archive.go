package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// ArchiveReader reads compacted turns without the handle of the chat, because archives never change.
// It is safe for concurrent use.
type ArchiveReader interface {
	// ReadArchive returns the turns of an archive, in order, without damaged lines. It returns
	// [ErrNotFound] if there is no such archive.
	ReadArchive(ctx context.Context, key messages.ChatKey, archiveID string) ([]uimessage.Message, error)
}
