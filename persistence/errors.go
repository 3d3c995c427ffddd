package persistence

import (
	"errors"
	"fmt"
)

// Errors of stores, wrapped with the chat and the operation.
var (
	ErrClosed   = errors.New("store is closed")
	ErrNotFound = errors.New("no such chat")
	// ErrLocked means that another process uses the same data.
	ErrLocked = errors.New("another process uses this data")
	// ErrReadOnly means that an earlier fsync failed; the chat has to be opened again before it can
	// be written.
	ErrReadOnly = errors.New("chat is read-only after a failed write")
	// ErrFull means that the disk is full; the write was undone and may be retried.
	ErrFull = errors.New("disk is full")
	// ErrNotCut means that history was appended while the journal has facts.
	ErrNotCut = errors.New("journal is not empty")
)

// Error is a failed store operation.
type Error struct {
	Op    string // "append journal", "checkpoint", …
	Chat  string
	Cause error
	// Retryable is set if the operation had no effect and may succeed later.
	Retryable bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s of %s: %v", e.Op, e.Chat, e.Cause) }

func (e *Error) Unwrap() error { return e.Cause }
