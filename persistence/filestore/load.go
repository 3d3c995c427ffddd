package filestore

import (
	"context"
	"path"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Load implements [persistence.Chat].
func (c *chat) Load(ctx context.Context) (snap journal.Snapshot, err error) {
	err = c.do(ctx, "load", false, func(ctx context.Context) (err error) {
		snap, err = c.load(ctx)
		return err
	})
	return snap, err
}

func (c *chat) ensureLoaded(ctx context.Context) error {
	if c.loaded {
		return nil
	}
	_, err := c.load(ctx)
	return err
}

// load reads all files again.
func (c *chat) load(ctx context.Context) (journal.Snapshot, error) {
	if c.known && c.live == 0 {
		return c.loadKnown(ctx)
	}
	c.loaded, c.known = false, false
	snap := journal.Snapshot{}
	if err := c.checkFolders(); err != nil {
		return snap, err
	}
	marker, _ := c.marker()
	_, err := c.store.fs.Lstat(marker)
	if err != nil && !isMissing(err) {
		return snap, err
	}
	c.unclean = err == nil
	for _, read := range []func(context.Context, *journal.Snapshot) error{c.loadHistory, c.loadMeta, c.loadJournal, c.loadLedger} {
		if err := read(ctx, &snap); err != nil {
			return journal.Snapshot{}, err
		}
	}
	c.loaded, c.known = true, !c.damaged
	if c.unclean && c.suspect && c.broken == nil {
		if err := c.settle(ctx); err != nil {
			c.distrust(ctx, "force what was found", c.dir, err)
		}
	}
	return snap, nil
}

// loadKnown reads the history again, which is all that the handle does not have.
func (c *chat) loadKnown(ctx context.Context) (journal.Snapshot, error) {
	snap := journal.Snapshot{Meta: cloneMeta(c.meta.last), LedgerN: c.tail.last}
	err := c.loadHistory(ctx, &snap)
	c.loaded, c.known = err == nil, err == nil && !c.damaged
	return snap, err
}

// folders are the paths of the folders of a chat that are written to, and of those above them. They
// may be missing.
func (c *chat) folders() []string {
	dirs := c.chain()
	for _, name := range []string{
		messagesDir, conversationsDir, quarantineDir, archiveDir, path.Dir(contextsDir), contextsDir,
		"memory", "memory/backup", // of other stores
	} {
		dirs = append(dirs, c.path(name))
	}
	return dirs
}

// checkFolders refuses folders of the chat that are something else, such as symbolic links to
// another place.
func (c *chat) checkFolders() error {
	for _, dir := range c.folders() {
		if err := c.store.checkDir(dir); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

func (c *chat) loadHistory(ctx context.Context, snap *journal.Snapshot) error {
	found, err := c.scan(ctx, c.history, historyName, snap, readHistory(&snap.History, &c.index))
	c.damaged = len(found.Bad) > 0
	return err
}

func (c *chat) loadJournal(ctx context.Context, snap *journal.Snapshot) error {
	found, err := c.scan(ctx, c.journal, journalName, snap, readJournal(&snap.Journal, &c.last, c.meta.checkpointed))
	c.live = len(snap.Journal)
	if err != nil || len(snap.Journal) > 0 || len(found.Bad) > 0 || c.journal.size == 0 || c.journal.torn.N > 0 {
		return err
	}
	// All of it is in the checkpoint; the process ended before the cut.
	return c.journal.clear(ctx)
}

// scan reads a file of lines. Unreadable data goes to quarantine, and the torn tail is cut off, now
// or before the next write.
func (c *chat) scan(ctx context.Context, l *logFile, name string, snap *journal.Snapshot, r linefile.Reader) (linefile.Found, error) {
	var found linefile.Found
	err := l.read(ctx, func(f vfs.File) error {
		size, err := c.fromDisk(f)
		if err == nil {
			found, err = linefile.ScanFile(f, size, c.unclean, r)
		}
		return err
	})
	return found, c.scanned(ctx, l, name, snap, found, err)
}

// fromDisk returns the size of a file. If its writer may have been killed, it first drops what is
// only in memory.
func (c *chat) fromDisk(f vfs.File) (int64, error) {
	if c.unclean {
		if err := f.Reread(); err != nil {
			return 0, err
		}
	}
	return f.Size()
}

// scanned notes the end of a file that was scanned, and quarantines its damage. A missing file is
// empty.
func (c *chat) scanned(ctx context.Context, l *logFile, name string, snap *journal.Snapshot, found linefile.Found, err error) error {
	if err != nil && !isMissing(err) {
		l.torn = linefile.Region{}
		return err
	}
	l.exists, l.size, l.room, l.open, l.torn = err == nil, found.Size, found.Size, found.Open, found.Torn
	l.unsynced = l.unsynced || l.exists && c.suspect
	c.report(ctx, l, name, found, snap)
	return nil
}

// report quarantines unreadable data. A failure to write does not prevent loading.
func (c *chat) report(ctx context.Context, l *logFile, name string, found linefile.Found, snap *journal.Snapshot) {
	for _, r := range found.Bad {
		c.reportRegion(ctx, name, r, snap)
		if err := c.quarantine(ctx, l.h.Path(), r); err != nil {
			c.distrust(ctx, "copy to quarantine", name, err)
		}
	}
	if l.torn.N == 0 {
		return
	}
	c.reportRegion(ctx, name, l.torn, snap)
	if err := c.mend(ctx, l); err != nil {
		c.distrust(ctx, "cut off the torn tail", name, err)
	}
}

// distrust logs an error while loading. A failed fsync is final here too.
func (c *chat) distrust(ctx context.Context, what, name string, err error) {
	c.store.log.WarnContext(ctx, "damage could not be moved to quarantine", "chat_key", c.key, "file", name, "what", what, "error", err)
	if !isUndone(err) && c.broken == nil {
		c.broken = err
	}
}

func (c *chat) reportRegion(ctx context.Context, name string, r linefile.Region, snap *journal.Snapshot) {
	snap.Damage = append(snap.Damage, journal.Damage{File: name, Offset: r.Off, Bytes: r.N, Why: r.Why})
	c.store.log.WarnContext(ctx, "damage in a chat's file", "chat_key", c.key, "file", name, "offset", r.Off, "bytes", r.N, "why", r.Why)
}

// mend copies a torn tail to quarantine and then cuts it off.
func (c *chat) mend(ctx context.Context, l *logFile) error {
	if err := c.quarantine(ctx, l.h.Path(), l.torn); err != nil {
		return err
	}
	// Fsynced at once: the next write must not be mixed with what was cut off.
	err := l.read(ctx, func(f vfs.File) error {
		if err := f.Truncate(l.size); err != nil {
			return harmless(err)
		}
		return f.Datasync()
	})
	if err == nil {
		l.torn, l.unsynced = linefile.Region{}, false
	}
	return err
}

// readJournal reads the records after the number of the last checkpoint. Numbers only increase: a
// repeated record is a copy, or was in an earlier checkpoint.
func readJournal(records *[]journal.Record, last *int64, checkpointed int64) linefile.Reader {
	*last = checkpointed
	return linefile.Reader{
		Take: func(_ int64, raw []byte, strict bool) bool {
			r, ok := linefile.ParseRecord(raw, strict)
			if ok && r.N > *last {
				*last = r.N
				*records = append(*records, r)
			}
			return ok
		},
		Reset: func() { *last, *records = checkpointed, nil },
	}
}
