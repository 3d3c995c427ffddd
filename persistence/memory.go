package persistence

import (
	"context"
	"errors"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// Errors of memories.
var (
	// ErrMemoryChanged means that the text is no longer the one that was to be replaced.
	ErrMemoryChanged = errors.New("the memory was changed meanwhile")
	// ErrMemoryFull means that a memory would grow beyond [memories.MaxSize].
	ErrMemoryFull = errors.New("the memory is full")
	// ErrNoMemory means that no memory can have that name.
	ErrNoMemory = errors.New("there is no such memory")
)

// MemoryStore stores memories: Markdown that people read and edit. A nil error means durable. Every
// change replaces a text atomically: after a crash either the old or the new one exists. It is safe
// for concurrent use, also by several processes.
type MemoryStore interface {
	// ReadMemory returns a text, which is empty if it does not exist.
	ReadMemory(ctx context.Context, place memories.Place) (string, error)
	// AddMemory appends facts and reports how many are new: a fact whose words already exist is left
	// out. Existing text does not change.
	AddMemory(ctx context.Context, place memories.Place, facts ...memories.Fact) (int, error)
	// ReplaceMemory replaces was with a text, or fails with [ErrMemoryChanged]. With backup, was is
	// saved in a file next to it first.
	ReplaceMemory(ctx context.Context, place memories.Place, was, text string, backup bool) error
	MemoryCursor
}

// MemoryCursor stores how far facts were extracted from a chat's history.
type MemoryCursor interface {
	// Extracted returns the mark, which is zero if nothing was extracted.
	Extracted(ctx context.Context, key messages.ChatKey) (memories.Mark, error)
	// AddExtracted adds facts to the memory of a chat and moves its mark. After a crash both changes
	// exist, or neither.
	AddExtracted(ctx context.Context, key messages.ChatKey, to memories.Mark, facts ...memories.Fact) (int, error)
}
