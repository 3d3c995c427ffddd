package persistence

import (
	"errors"
	"fmt"
)

// Errors of stores, wrapped with the chat and the operation.
var (
	ErrClosed   = errors.New("store is closed")
	ErrNotFound = errors.New("no such chat")
	// ErrLocked: another process works on the same data.
	ErrLocked = errors.New("another process uses this data")
	// ErrReadOnly: a forced write failed before; nothing is believed until the chat is opened anew.
	ErrReadOnly = errors.New("chat is read-only after a failed write")
	// ErrFull: the disk is full; the write was undone and may be tried again.
	ErrFull = errors.New("disk is full")
	// ErrDamaged: the history has damage that must be repaired before it may be rewritten.
	ErrDamaged = errors.New("history is damaged")
	// ErrNotCut: a history append while the journal holds facts.
	ErrNotCut = errors.New("journal is not empty")
)

// Error is a failed store operation.
type Error struct {
	Op    string // "append journal", "fold", …
	Chat  string
	Cause error
	// Retryable says that the operation left no trace and may succeed later.
	Retryable bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s of %s: %v", e.Op, e.Chat, e.Cause) }

func (e *Error) Unwrap() error { return e.Cause }
