package persistence

import (
	"context"
	"iter"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Store keeps chats. It is safe for concurrent use; chats do not wait for each
// other beyond the store's own bound on open files and writes under way.
type Store interface {
	// OpenChat returns the handle of a chat, which exists from its first write
	// on. At most one handle per chat may be open; a second is an error.
	OpenChat(ctx context.Context, key messages.ChatKey) (Chat, error)
	// Chats yields the key of every chat, in no order.
	Chats(ctx context.Context) iter.Seq2[messages.ChatKey, error]
	// Waking lists the chats that were not at rest when the process ended. Its
	// cost does not grow with the number of chats.
	Waking(ctx context.Context) ([]messages.ChatKey, error)
	ContextStore
	// Close closes all handles. Operations after it fail with [ErrClosed].
	Close() error
}

// Chat is the only writer of one chat. Its methods are called by one goroutine
// at a time. A nil error means durable: the data survives a power cut.
//
// After an error that is not Retryable every later write fails with
// [ErrReadOnly] until the chat is opened anew. Slices are not kept.
type Chat interface {
	// Load reads everything. It never fails for damage: what cannot be read is
	// moved to quarantine and reported.
	Load(ctx context.Context) (journal.Snapshot, error)
	Journal
	Rewriter
	Waker
	// Close releases the handle. It does not make the chat rest.
	Close() error
}

// Journal takes facts and moves them out.
type Journal interface {
	// Append writes records at the end of the journal, in order, in one forced
	// write. Either all of them are there, or a prefix of them and an error.
	Append(ctx context.Context, records ...journal.Record) error
	// Note writes records without forcing them to the disk: they survive the end
	// of the process, but perhaps not of the machine. The next Append forces them.
	Note(ctx context.Context, records ...journal.Record) error
	// AppendHistory adds turns to the history, forced. It is allowed only while
	// the journal is empty, otherwise [ErrNotCut].
	AppendHistory(ctx context.Context, turns ...uimessage.Message) error
	// Fold adds what a fold moves out to history and ledger, writes meta, forces
	// all of them, and only then replaces the journal by the fold's rest.
	Fold(ctx context.Context, fold journal.Fold) error
	// Ledger yields the ledger's entries, oldest first.
	Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error]
}

// Rewriter replaces a history: compaction, context switch, rewind.
type Rewriter interface {
	// Rewrite archives lines of the history and then replaces the history in one
	// step: after a crash the old or the new one is there, whole. Lines that stay
	// are copied as bytes. It fails with [ErrDamaged] on a damaged history.
	Rewrite(ctx context.Context, rewrite journal.Rewrite) error
	// ReadArchive reads one archive back.
	ReadArchive(ctx context.Context, id string) (journal.Archive, error)
}

// Waker marks chats that a start must wake.
type Waker interface {
	// Wake is called before an activation's first acknowledgement. It costs
	// nothing when the chat is already marked.
	Wake(ctx context.Context) error
	// Rest is called when the chat is passivated with nothing left to do. A chat
	// that is read-only stays marked: it fails with [ErrReadOnly].
	Rest(ctx context.Context) error
}
