package persistence

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Store stores chats. It is safe for concurrent use; chats do not block each other, except for the
// store's limits of open files and concurrent writes.
type Store interface {
	// OpenChat returns the handle of a chat, which exists from its first write on. At most one handle
	// per chat may be open; opening a second is an error.
	OpenChat(ctx context.Context, key messages.ChatKey) (Chat, error)
	// Chats yields the keys of all chats, in no particular order.
	Chats(ctx context.Context) iter.Seq2[messages.ChatKey, error]
	// Waking lists the chats that had unfinished work when the process ended. Its cost does not grow
	// with the number of chats.
	Waking(ctx context.Context) ([]messages.ChatKey, error)
	ContextStore
	// Close closes all handles. Operations after it fail with [ErrClosed].
	Close() error
}

// Chat is the only writer of one chat. Its methods are called by one goroutine at a time. A nil
// error means durable: the data survives a power cut.
//
// After an error that is not Retryable, every later write fails with [ErrReadOnly] until the chat
// is opened again. Slices are not retained.
type Chat interface {
	// Load reads everything. It does not fail because of damage: unreadable data is moved to
	// quarantine and reported.
	Load(ctx context.Context) (journal.Snapshot, error)
	Journal
	Rewriter
	Waker
	// Close releases the handle. The chat stays marked for waking.
	Close() error
}

// Journal stores facts and moves them out.
type Journal interface {
	// Append writes records at the end of the journal, in order, with one fsync. Either all of them
	// are written, or a prefix of them and an error is returned.
	Append(ctx context.Context, records ...journal.Record) error
	// Note writes records without an fsync: they survive the end of the process, but perhaps not a
	// power cut. The next Append makes them durable.
	Note(ctx context.Context, records ...journal.Record) error
	// AppendHistory adds turns to the history, durably. It is allowed only while the journal is
	// empty, otherwise it fails with [ErrNotCut].
	AppendHistory(ctx context.Context, turns ...uimessage.Message) error
	// Checkpoint empties the journal: it adds what leaves it to history and ledger, writes
	// meta, fsyncs all of them, and only then replaces the journal with the checkpoint's rest.
	Checkpoint(ctx context.Context, checkpoint journal.Checkpoint) error
	// Ledger yields the ledger's entries, newest first. It reads little more than what is asked for.
	Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error]
}

// Rewriter replaces a history: compaction, context switch, rewind.
type Rewriter interface {
	// Rewrite archives lines of the history and then replaces the history atomically: after a crash
	// either the old or the new one exists, complete. Lines that stay are copied byte for byte. It
	// fails with [journal.ErrDamaged] on a damaged history.
	Rewrite(ctx context.Context, rewrite journal.Rewrite) error
	// ReadArchive reads one archive.
	ReadArchive(ctx context.Context, id string) (journal.Archive, error)
}

// Waker marks chats that have to be woken at a start.
type Waker interface {
	// Wake is called before an activation's first acknowledgement. It costs nothing if the chat is
	// already marked.
	Wake(ctx context.Context) error
	// Rest is called when the chat is passivated with no work left. A chat that is read-only stays
	// marked: Rest then fails with [ErrReadOnly].
	Rest(ctx context.Context) error
}

// ArchiveReader reads compacted turns without the handle of the chat, because archives never change.
// It is safe for concurrent use.
type ArchiveReader interface {
	// ReadArchive returns the turns of an archive, in order, without damaged lines. It returns
	// [ErrNotFound] if there is no such archive.
	ReadArchive(ctx context.Context, key messages.ChatKey, archiveID string) ([]uimessage.Message, error)
}

// ContextStore reads the archived contexts of chats. It may be used while their chats write; a
// context is visible completely or not at all.
type ContextStore interface {
	// Contexts returns the archived contexts of a chat, the newest first.
	Contexts(ctx context.Context, key messages.ChatKey) ([]journal.ContextItem, error)
	// ReadContext reads one context, or returns [ErrNotFound].
	ReadContext(ctx context.Context, key messages.ChatKey, id string) (journal.Context, error)
}

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
