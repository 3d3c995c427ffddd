package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
)

// FileStore keeps small files beside a chat, for what is neither history nor fact:
// what people set for the chat, the pages of a long answer that are still to come.
// It is safe for concurrent use; of one chat, one caller writes at a time.
type FileStore interface {
	// ReadFile is the content of a file; nil if there is none.
	ReadFile(ctx context.Context, key messages.ChatKey, name string) ([]byte, error)
	// WriteFile replaces a file, durably and in one step; no content removes it.
	WriteFile(ctx context.Context, key messages.ChatKey, name string, content []byte) error
	// FilePath is where a file is, for a platform that sends it.
	FilePath(key messages.ChatKey, name string) (string, error)
}
