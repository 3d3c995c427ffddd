package filestore

import (
	"context"
	"fmt"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Checkpoint implements [persistence.Journal].
//
// First everything is written, which can be undone; then it is fsynced; and only then is the
// journal cut. After an earlier crash the journal still exists, and repeating the checkpoint adds
// nothing twice. A cut that leaves nothing need not be fsynced: the meta says which records are in
// the checkpoint.
func (c *chat) Checkpoint(ctx context.Context, cp journal.Checkpoint) error {
	return c.write(ctx, "checkpoint", func(ctx context.Context) error {
		f := checkpointing{chat: c, checkpoint: cp, turns: c.store.buffer(), entries: c.store.buffer(), meta: c.store.buffer()}
		defer c.store.release(f.turns)
		defer c.store.release(f.entries)
		defer c.store.release(f.meta)
		if err := f.plan(ctx); err != nil {
			return err
		}
		f.marks = [...]mark{c.history.mark(), c.ledger.mark(), c.metaLog.mark()}
		for _, step := range []func(context.Context) error{f.add, f.writeRest, f.sync, f.writeMeta} {
			if err := step(ctx); err != nil {
				return f.undo(ctx, err)
			}
		}
		if err := f.settle(ctx); err != nil {
			return err
		}
		return f.cut(ctx)
	})
}

// checkpointing is a checkpoint in progress.
type checkpointing struct {
	chat       *chat
	checkpoint journal.Checkpoint
	marks      [3]mark

	turns, entries, meta *buffer // lines to add
	added                []added
	tail                 ledgerTail
	checkpointed         int64
	// placeMeta is set if a new meta file is used instead of a line.
	placeMeta func() error
	rest      int64 // size of the rest of the journal
}

// undo removes what was added, if the error allows it.
func (f *checkpointing) undo(ctx context.Context, err error) error {
	if !isUndone(err) {
		return err
	}
	c := f.chat
	c.loaded = false // the noted state of the files is wrong
	if len(f.checkpoint.Rest) > 0 {
		_ = c.store.fs.Remove(c.journal.h.Path() + tempSuffix) // the next checkpoint overwrites it
	}
	for i, l := range []*logFile{c.history, c.ledger, c.metaLog} {
		if rest := l.back(ctx, f.marks[i]); rest != nil {
			return fmt.Errorf("undo failed: %w, after the error: %v", rest, err) //nolint:errorlint // must not be recognised as undone
		}
	}
	return err
}

// plan makes the lines and prepares the files.
func (f *checkpointing) plan(ctx context.Context) (err error) {
	c := f.chat
	if err := c.prepare(ctx, c.journal, messagesDir); err != nil {
		return err
	}
	if err := c.prepare(ctx, c.metaLog, messagesDir); err != nil {
		return err
	}
	if err := c.metaLog.create(ctx); err != nil {
		return err
	}
	if f.checkpointed = c.last; len(f.checkpoint.Rest) > 0 {
		f.checkpointed = c.meta.checkpointed // the records are needed until the rest is in place
	}
	if f.added, err = c.turnLines(ctx, f.turns, f.checkpoint.History); err != nil {
		return harmless(err)
	}
	var first int64
	first, f.tail = c.ledgerLines(f.entries, f.checkpoint.Ledger)
	if len(f.entries.b) == 0 && !c.ledger.exists {
		return nil
	}
	// Even if the ledger has all entries: its name may not be durable yet.
	if err := c.prepare(ctx, c.ledger, conversationsDir); err != nil || len(f.entries.b) == 0 {
		return err
	}
	return c.rotateLedger(ctx, first)
}

// add adds the lines of history and ledger.
func (f *checkpointing) add(ctx context.Context) error {
	c := f.chat
	if err := c.addTurns(ctx, f.turns.b, f.added); err != nil {
		return err
	}
	if err := c.ledger.write(ctx, f.entries.b); err != nil {
		return err
	}
	c.tail = f.tail
	return nil
}

// writeRest writes the new journal to a temporary file.
func (f *checkpointing) writeRest(ctx context.Context) error {
	if len(f.checkpoint.Rest) == 0 {
		return nil
	}
	c := f.chat
	return c.writeTemp(ctx, c.journal.h.Path()+tempSuffix, func(w *vfs.Writer) error {
		for _, r := range f.checkpoint.Rest {
			if _, err := w.Write(linefile.AppendRecord(nil, r)); err != nil {
				return err
			}
		}
		f.rest = w.Size()
		return nil
	})
}

// sync makes history and ledger durable, and the name of the log of the meta, which is still without the new line.
func (f *checkpointing) sync(ctx context.Context) error {
	return f.chat.sync(ctx, f.chat.history, f.chat.ledger, f.chat.metaLog)
}

// writeMeta adds a line to the log of the meta, or writes a new file. The meta says what is in the
// checkpoint, so it must not reach the disk before the rest of it.
func (f *checkpointing) writeMeta(ctx context.Context) (err error) {
	c := f.chat
	ok := c.metaLog.size < metaLogLimit && !c.meta.last.Drops(f.checkpoint.Meta)
	if ok {
		f.meta.b, ok = c.meta.logLine(append(f.meta.b, linefile.Joint), f.checkpoint.Meta, f.checkpointed)
	}
	if ok {
		return c.metaLog.write(ctx, f.meta.b)
	}
	f.placeMeta, err = c.writeMetaFile(ctx, f.checkpoint.Meta, f.checkpointed)
	return err
}

// settle makes the meta durable.
func (f *checkpointing) settle(ctx context.Context) error {
	c := f.chat
	if f.placeMeta == nil {
		c.meta.keep(f.checkpoint.Meta)
		c.meta.checkpointed, c.meta.fresh = f.checkpointed, false
		return c.metaLog.sync(ctx)
	}
	if err := c.placeMeta(ctx, f.placeMeta); err != nil {
		return err
	}
	return c.metaLog.clear(ctx)
}

// cut reduces the journal to the rest.
func (f *checkpointing) cut(ctx context.Context) error {
	c := f.chat
	c.live = len(f.checkpoint.Rest)
	if c.live == 0 {
		return c.journal.clear(ctx)
	}
	if err := c.store.fs.Rename(c.journal.h.Path()+tempSuffix, c.journal.h.Path()); err != nil {
		return err
	}
	c.journal.replaced(f.rest)
	for _, r := range f.checkpoint.Rest {
		c.last = max(c.last, r.N)
	}
	return c.syncDir(ctx, c.path(messagesDir))
}
