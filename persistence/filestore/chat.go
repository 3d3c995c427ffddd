package filestore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Names in a chat's folder.
const (
	messagesDir      = "messages"
	conversationsDir = "conversations"
	quarantineDir    = "messages/quarantine"
	archiveDir       = "messages/archive"

	historyName = "messages/history.jsonl"
	journalName = "messages/journal.jsonl"
	metaName    = "messages/meta.json"
	metaLogName = "messages/meta.jsonl"
	ledgerName  = "conversations/history.jsonl"
	tempSuffix  = ".tmp"
)

// chat is the handle of one chat.
type chat struct {
	store *Store
	key   messages.ChatKey
	dir   string

	mu     sync.Mutex // locked by every operation; only Close ever waits for it
	closed bool
	broken error // why every write fails
	loaded bool
	known  bool // no write has failed since all files were read
	marked bool // Wake was called
	// suspect is set if the process that last wrote here may have been killed during a write, so that
	// nothing on the disk counts as durable.
	suspect bool
	// unclean is set if the chat was marked for waking when it was read.
	unclean bool
	made    []string // folders known to exist
	pending []string // folders to fsync before the next success

	history, journal, ledger, metaLog *logFile

	index   index
	damaged bool  // the history is damaged and not repaired
	live    int   // number of records in the journal
	last    int64 // number of the last record ever written
	tail    ledgerTail
	meta    metaState
}

func newChat(s *Store, key messages.ChatKey, folder string) *chat {
	c := &chat{store: s, key: key, dir: path.Join(s.dir, chatsDir, folder), suspect: true}
	c.history = newLog(s.files, c.dir, historyName)
	c.journal = newLog(s.files, c.dir, journalName)
	c.journal.padding = s.padding
	c.ledger = newLog(s.files, c.dir, ledgerName)
	c.metaLog = newLog(s.files, c.dir, metaLogName)
	return c
}

func (c *chat) logs() []*logFile { return []*logFile{c.history, c.journal, c.ledger, c.metaLog} }

func (c *chat) path(name string) string { return path.Join(c.dir, name) }

// folder is the path of the chat's folder in that of all chats.
func (c *chat) folder() string {
	return strings.TrimPrefix(c.dir, path.Join(c.store.dir, chatsDir)+"/")
}

// chain is the folders from that of all chats down to this chat's own.
func (c *chat) chain() []string {
	return chatpath.Folders(path.Join(c.store.dir, chatsDir), c.folder())
}

// write runs an operation on the chat's records.
func (c *chat) write(ctx context.Context, op string, fn func(context.Context) error) error {
	return c.change(ctx, op, func(ctx context.Context) error {
		if err := c.ensureLoaded(ctx); err != nil {
			return harmless(err)
		}
		return fn(ctx)
	})
}

// change runs an operation that must be durable. An error other than [undone] makes the chat
// read-only.
func (c *chat) change(ctx context.Context, op string, fn func(context.Context) error) error {
	return c.do(ctx, op, true, func(ctx context.Context) error {
		if c.broken != nil {
			return fmt.Errorf("%w: %w", persistence.ErrReadOnly, c.broken)
		}
		err := fn(ctx)
		c.known = c.known && err == nil
		switch {
		case err == nil:
		case !isUndone(err):
			c.broken = err
			c.count("final")
			c.store.log.ErrorContext(ctx, "a chat is read-only after a failed write, until it is opened again", "chat_key", c.key, "op", op, "error", err)
		case errors.Is(err, persistence.ErrFull):
			c.count("full")
		default:
			c.count("refused")
		}
		return err
	})
}

func (c *chat) count(result string) { c.store.metrics.failed.WithLabelValues(result).Inc() }

// do runs an operation within the store's limits. The context only ends the wait for a free slot:
// an operation that has started is not left half done.
func (c *chat) do(ctx context.Context, op string, writes bool, fn func(context.Context) error) error {
	if err := c.store.enter(ctx); err != nil {
		return &persistence.Error{Op: op, Chat: string(c.key), Cause: err, Retryable: true}
	}
	defer c.store.leave()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return &persistence.Error{Op: op, Chat: string(c.key), Cause: persistence.ErrClosed}
	}
	err := fn(context.WithoutCancel(ctx))
	if err == nil {
		return nil
	}
	return &persistence.Error{Op: op, Chat: string(c.key), Cause: err, Retryable: !writes || isUndone(err)}
}

// Append implements [persistence.Journal].
func (c *chat) Append(ctx context.Context, records ...journal.Record) error {
	return c.append(ctx, "append journal", c.journal, func(ctx context.Context) error { return c.note(ctx, records) })
}

// append runs an operation that adds lines to a file, and makes them durable.
func (c *chat) append(ctx context.Context, op string, l *logFile, fn func(context.Context) error) error {
	start := time.Now()
	err := c.write(ctx, op, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		return c.sync(ctx, l)
	})
	if err == nil {
		c.store.metrics.append.Observe(time.Since(start).Seconds())
	}
	return err
}

// errNumber is the cause of refusing records whose numbers do not increase, because a load would
// take them for copies of others.
var errNumber = errors.New("record number was used before")

// Note implements [persistence.Journal].
func (c *chat) Note(ctx context.Context, records ...journal.Record) error {
	return c.write(ctx, "note journal", func(ctx context.Context) error { return c.note(ctx, records) })
}

func (c *chat) note(ctx context.Context, records []journal.Record) error {
	if len(records) == 0 {
		return nil
	}
	last := c.last
	for _, r := range records {
		if r.N <= last {
			return &undone{fmt.Errorf("%w: %d after %d", errNumber, r.N, last)}
		}
		last = r.N
	}
	if err := c.prepare(ctx, c.journal, messagesDir); err != nil {
		return err
	}
	buf := c.store.buffer()
	defer c.store.release(buf)
	for _, r := range records {
		buf.b = linefile.AppendRecord(append(buf.b, linefile.Joint), r)
	}
	if err := c.journal.write(ctx, buf.b); err != nil {
		return err
	}
	c.last, c.live = last, c.live+len(records)
	return nil
}

// AppendHistory implements [persistence.Journal].
func (c *chat) AppendHistory(ctx context.Context, turns ...uimessage.Message) error {
	return c.append(ctx, "append history", c.history, func(ctx context.Context) error {
		if c.live > 0 {
			return &undone{persistence.ErrNotCut}
		}
		buf := c.store.buffer()
		defer c.store.release(buf)
		added, err := c.turnLines(ctx, buf, turns)
		if err != nil {
			return harmless(err)
		}
		return c.addTurns(ctx, buf.b, added)
	})
}

// prepare makes a file ready for writing: it makes the folder, quarantines the unreadable end of
// the file and cuts it off.
func (c *chat) prepare(ctx context.Context, l *logFile, dir string) error {
	if err := c.ensureDir(dir); err != nil {
		return harmless(err)
	}
	if l.torn.N > 0 {
		return c.mend(ctx, l)
	}
	return nil
}

// ensureDir makes a folder of the chat and its parents.
func (c *chat) ensureDir(name string) error {
	if slices.Contains(c.made, name) {
		return nil
	}
	chain := append(c.chain(), chatpath.Folders(c.dir, name)...)
	for _, dir := range chain {
		made, err := c.store.mkdir(dir)
		if err != nil {
			return err
		}
		if made || c.suspect {
			c.mustSync(path.Dir(dir))
		}
	}
	if c.suspect {
		c.mustSync(c.path(name))
	}
	c.made = append(c.made, name)
	return nil
}

// mustSync notes a folder to fsync before the next success.
func (c *chat) mustSync(dir string) {
	if !slices.Contains(c.pending, dir) {
		c.pending = append(c.pending, dir)
	}
}

// sync fsyncs files, and then all noted folders.
func (c *chat) sync(ctx context.Context, logs ...*logFile) error {
	for _, l := range logs {
		if l.unnamed { // noted only now, because folders may be fsynced before a file is made in them
			c.mustSync(path.Dir(l.h.Path()))
			l.unnamed = false
		}
		if err := l.sync(ctx); err != nil {
			return err
		}
	}
	return c.syncDirs(ctx)
}

// syncDirs fsyncs all noted folders.
func (c *chat) syncDirs(ctx context.Context) error {
	for len(c.pending) > 0 {
		last := len(c.pending) - 1
		if err := c.syncDir(ctx, c.pending[last]); err != nil {
			return err
		}
		c.pending = c.pending[:last]
	}
	c.pending = nil
	return nil
}

func (c *chat) syncDir(ctx context.Context, dir string) error {
	return c.store.files.Once(ctx, func() error { return c.store.fs.SyncDir(dir) })
}

// Close implements [persistence.Chat].
func (c *chat) Close() error {
	c.shut()
	c.store.forget(c)
	return nil
}

func (c *chat) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.broken == nil {
		c.journal.trim()
	}
	for _, l := range c.logs() {
		c.store.files.Close(&l.h)
	}
	c.index = index{}
}
