package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
)

// FileStore stores small files of a chat that are neither history nor facts: people's settings for
// the chat, or the remaining pages of a long answer. It is safe for concurrent use; only one caller
// at a time may write files of the same chat.
type FileStore interface {
	// ReadFile returns the content of a file, or nil if it does not exist.
	ReadFile(ctx context.Context, key messages.ChatKey, name string) ([]byte, error)
	// WriteFile replaces a file, durably and atomically; empty content removes it.
	WriteFile(ctx context.Context, key messages.ChatKey, name string, content []byte) error
	// FilePath returns the path of a file, for a platform that sends it.
	FilePath(key messages.ChatKey, name string) (string, error)
}
