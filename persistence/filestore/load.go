package filestore

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Load implements [persistence.Chat].
func (c *chat) Load(ctx context.Context) (journal.Snapshot, error) {
	var snap journal.Snapshot
	err := c.read(ctx, "load", func(ctx context.Context) (err error) {
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
	c.loaded = false
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
	for _, read := range []func(context.Context, *journal.Snapshot) error{
		c.loadHistory, c.loadMeta, c.loadJournal, c.loadLedger,
	} {
		if err := read(ctx, &snap); err != nil {
			return journal.Snapshot{}, err
		}
	}
	c.loaded = true
	if c.unclean && c.suspect && c.broken == nil {
		if err := c.settle(ctx); err != nil {
			c.distrust(ctx, "force what was found", c.dir, err)
		}
	}
	return snap, nil
}

// chatFolders are the folders of a chat that are written to.
func chatFolders() []string {
	return []string{
		messagesDir, conversationsDir, quarantineDir, archiveDir, path.Dir(contextsDir), contextsDir,
		"memory", "memory/backup", // of other stores
	}
}

// checkFolders refuses folders of the chat that are something else, such as symbolic links to
// another place. They may be missing.
func (c *chat) checkFolders() error {
	dirs := slices.Clone(c.chain)
	for _, name := range chatFolders() {
		dirs = append(dirs, c.path(name))
	}
	for _, dir := range dirs {
		if err := c.store.checkDir(dir); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

func (c *chat) loadHistory(ctx context.Context, snap *journal.Snapshot) error {
	found, err := c.scan(ctx, c.history, historyName, snap, readHistory(&snap.History, &c.index))
	c.damaged = len(found.bad) > 0
	return err
}

func (c *chat) loadJournal(ctx context.Context, snap *journal.Snapshot) error {
	found, err := c.scan(ctx, c.journal, journalName, snap, readJournal(&snap.Journal, &c.last, c.meta.folded))
	c.live = len(snap.Journal)
	if err != nil || len(snap.Journal) > 0 || len(found.bad) > 0 || c.journal.size == 0 || c.journal.torn.n > 0 {
		return err
	}
	// All of it is in the checkpoint; the process ended before the cut.
	return c.journal.clear(ctx)
}

// scan reads a file of lines. Unreadable data goes to quarantine, and the torn tail is cut off, now
// or before the next write.
func (c *chat) scan(ctx context.Context, l *logFile, name string, snap *journal.Snapshot, r reader) (scan, error) {
	var found scan
	err := l.read(ctx, func(f vfs.File) error {
		size, err := c.fromDisk(f)
		if err == nil {
			found, err = scanFile(f, size, c.unclean, r)
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
func (c *chat) scanned(ctx context.Context, l *logFile, name string, snap *journal.Snapshot, found scan, err error) error {
	if err != nil && !isMissing(err) {
		l.torn = region{}
		return err
	}
	l.exists, l.size, l.open, l.torn = err == nil, found.size, found.open, found.torn
	l.unforced = l.unforced || l.exists && c.suspect
	c.report(ctx, l, name, found, snap)
	return nil
}

// report quarantines unreadable data. A failure to write does not prevent loading.
func (c *chat) report(ctx context.Context, l *logFile, name string, found scan, snap *journal.Snapshot) {
	for _, r := range found.bad {
		c.reportRegion(ctx, name, r, snap)
		if err := c.quarantine(ctx, l.h.name, r); err != nil {
			c.distrust(ctx, "copy to quarantine", name, err)
		}
	}
	if l.torn.n == 0 {
		return
	}
	c.reportRegion(ctx, name, l.torn, snap)
	if err := c.mend(ctx, l); err != nil {
		c.distrust(ctx, "cut off the torn tail", name, err)
	}
}

// distrust logs an error while loading. A failed fsync is final here too.
func (c *chat) distrust(ctx context.Context, what, name string, err error) {
	c.store.log.WarnContext(ctx, "damage could not be set aside", "chat_key", c.key, "file", name, "what", what, "err", err)
	if !isUndone(err) && c.broken == nil {
		c.broken = err
	}
}

func (c *chat) reportRegion(ctx context.Context, name string, r region, snap *journal.Snapshot) {
	snap.Damage = append(snap.Damage, journal.Damage{File: name, Offset: r.off, Bytes: r.n, Why: r.why})
	c.store.log.WarnContext(ctx, "damage in a chat's file", "chat_key", c.key, "file", name, "offset", r.off, "bytes", r.n, "why", r.why)
}

// mend copies a torn tail to quarantine and then cuts it off.
func (c *chat) mend(ctx context.Context, l *logFile) error {
	if err := c.quarantine(ctx, l.h.name, l.torn); err != nil {
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
		l.torn, l.unforced = region{}, false
	}
	return err
}

// index has the positions of a history's lines.
type index struct {
	places []place
	byID   map[string]int
}

// place is the line with the current version of a message, without its newline.
type place struct {
	id  string
	off int64
	n   int
}

func (x *index) reset() {
	x.places, x.byID = nil, map[string]int{}
}

// set notes the line of a message. A known message keeps its position.
func (x *index) set(id string, off int64, n int) (i int, isNew bool) {
	i, seen := x.byID[id]
	if seen {
		x.places[i].off, x.places[i].n = off, n
		return i, false
	}
	x.add(id, off, n)
	return len(x.places) - 1, true
}

// add notes the line of a new message.
func (x *index) add(id string, off int64, n int) {
	x.byID[id] = len(x.places)
	x.places = append(x.places, place{id: id, off: off, n: n})
}

// added is a line in a buffer.
type added struct {
	id    string
	at, n int
	isNew bool // the history has no message with that id
}

// turnLines appends the lines of turns to a buffer, except those that the history already contains
// byte for byte.
func (c *chat) turnLines(ctx context.Context, buf *buffer, turns []uimessage.Message) ([]added, error) {
	var lines []added
	var here map[string]bool // the ids among the lines
	if len(turns) > 1 {
		here = map[string]bool{}
	}
	for _, m := range turns {
		if m.ID == "" || m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant {
			return nil, errNoTurn
		}
		at := len(buf.b) + 1
		buf.b = appendTurn(append(buf.b, joint), m)
		line := buf.b[at : len(buf.b)-1]
		i, seen := c.index.byID[m.ID]
		same := false
		if seen && !here[m.ID] {
			var err error
			if same, err = c.holds(ctx, c.index.places[i], line); err != nil {
				return nil, err
			}
		}
		if same {
			buf.b = buf.b[:at-1]
			continue
		}
		lines = append(lines, added{id: m.ID, at: at, n: len(line), isNew: !seen && !here[m.ID]})
		if here != nil {
			here[m.ID] = true
		}
	}
	return lines, nil
}

// errNoTurn is the cause of refusing a message that a history cannot store.
var errNoTurn = errors.New("a turn needs an id and the role user or assistant")

// holds reports whether a place contains exactly this line.
func (c *chat) holds(ctx context.Context, p place, line []byte) (bool, error) {
	if p.n != len(line) {
		return false, nil
	}
	old := make([]byte, p.n)
	err := c.history.read(ctx, func(f vfs.File) error { return readFull(f, old, p.off) })
	return err == nil && string(old) == string(line), err
}

// addTurns writes the lines that turnLines made, without an fsync.
func (c *chat) addTurns(ctx context.Context, b []byte, lines []added) error {
	if len(lines) == 0 && !c.history.exists {
		return nil
	}
	// Even if the history has them all: its name may not be durable yet.
	if err := c.prepare(ctx, c.history, messagesDir); err != nil || len(lines) == 0 {
		return err
	}
	if err := c.history.write(ctx, b); err != nil {
		return err
	}
	base := c.history.size - int64(len(b))
	for _, l := range lines {
		if off := base + int64(l.at); l.isNew {
			c.index.add(l.id, off, l.n)
		} else {
			c.index.set(l.id, off, l.n)
		}
	}
	return nil
}
