package filestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ledgerTail is what is known of the ledger without reading it completely.
type ledgerTail struct {
	// last is the number of the last entry, or 0 if there are no entries.
	last int64
	// lines are the digests of the entries with that number. A crash may have kept only some of a record's entries.
	lines [][sha256.Size]byte
}

func (t *ledgerTail) add(e journal.LedgerEntry, line []byte) {
	if e.N > t.last {
		t.last, t.lines = e.N, nil
	}
	if e.N == t.last {
		t.lines = append(t.lines, sha256.Sum256(line))
	}
}

// has reports whether the tail contains an entry, also in the format of an older version.
func (t *ledgerTail) has(e journal.LedgerEntry, line []byte) bool {
	if slices.Contains(t.lines, sha256.Sum256(line)) {
		return true
	}
	e.Arrived = 0
	old := linefile.AppendEntry(nil, e)
	return slices.Contains(t.lines, sha256.Sum256(old[:len(old)-1]))
}

// loadLedger reads the end of the ledger. If the journal still has the record with the last number,
// LedgerN is one less, because some of the record's entries may be missing.
func (c *chat) loadLedger(ctx context.Context, snap *journal.Snapshot) error {
	c.tail = ledgerTail{}
	found, err := c.scanTail(ctx, c.ledger.h.Path())
	if err := c.scanned(ctx, c.ledger, ledgerName, snap, found, err); err != nil {
		return err
	}
	if c.tail.last == 0 {
		if err := c.loadRotated(ctx); err != nil {
			return err
		}
	}
	snap.LedgerN = c.tail.last
	if n := len(snap.Journal); n > 0 && snap.Journal[0].N <= c.tail.last {
		snap.LedgerN--
	}
	return nil
}

// loadRotated looks for the last entry in the full files.
func (c *chat) loadRotated(ctx context.Context) error {
	names, err := c.rotated(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if _, err := c.scanTail(ctx, name); err != nil {
			return err
		}
		if c.tail.last > 0 {
			return nil
		}
	}
	return nil
}

// scanTail reads a ledger file from its end until all entries of its last record are read.
func (c *chat) scanTail(ctx context.Context, name string) (linefile.Found, error) {
	var found linefile.Found
	err := c.store.files.Temporary(ctx, name, os.O_RDONLY, func(f vfs.File) error {
		size, err := c.fromDisk(f)
		if err != nil {
			return err
		}
		lines := func(end int64) (linefile.Found, error) { return c.scanBack(f, end) }
		if c.unclean {
			found, err = linefile.ScanEnded(size, func() {}, lines)
		} else {
			found, err = lines(size)
		}
		return err
	})
	return found, err
}

func (c *chat) scanBack(f vfs.File, size int64) (found linefile.Found, err error) {
	const first = 16 << 10
	for block := int64(first); ; block *= 8 {
		begin := max(0, size-block)
		if begin, err = linefile.Start(f, begin, size); err != nil {
			return found, err
		}
		c.tail = ledgerTail{}
		before := false // an entry of an earlier record was found
		found, err = linefile.Scan(f, begin, size, func(_ int64, raw []byte, strict bool) bool {
			e, ok := linefile.ParseEntry(raw, strict)
			if ok {
				before = before || c.tail.last > 0 && e.N > c.tail.last
				c.tail.add(e, raw)
			}
			return ok
		})
		if err != nil || before || begin == 0 {
			return found, err
		}
	}
}

// rotated returns the full ledger files, oldest first.
func (c *chat) rotated(ctx context.Context) ([]string, error) {
	entries, err := c.store.list(ctx, c.path(conversationsDir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if rotation(e.Name()) > 0 {
			names = append(names, path.Join(c.path(conversationsDir), e.Name()))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(rotation(path.Base(a)), rotation(path.Base(b))) })
	return names, nil
}

// rotation is the number in `history.<n>.jsonl`, 0 for other names.
func rotation(name string) int {
	middle, ok := strings.CutPrefix(name, "history.")
	if !ok {
		return 0
	}
	middle, ok = strings.CutSuffix(middle, ".jsonl")
	n, err := strconv.Atoi(middle)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != middle {
		return 0
	}
	return n
}

// ledgerLines appends the lines of entries that the ledger does not contain yet, in the order of
// their records, and returns the number of the first one and the new tail.
func (c *chat) ledgerLines(buf *buffer, entries []journal.LedgerEntry) (first int64, tail ledgerTail) {
	tail = ledgerTail{last: c.tail.last, lines: slices.Clone(c.tail.lines)}
	for _, e := range slices.SortedStableFunc(slices.Values(entries), func(a, b journal.LedgerEntry) int { return cmp.Compare(a.N, b.N) }) {
		at := len(buf.b) + 1
		buf.b = linefile.AppendEntry(append(buf.b, linefile.Joint), e)
		line := buf.b[at : len(buf.b)-1]
		if e.N < c.tail.last || e.N == c.tail.last && c.tail.has(e, line) {
			buf.b = buf.b[:at-1]
			continue
		}
		if at == 1 {
			first = e.N
		}
		tail.add(e, line)
	}
	return first, tail
}

// rotateLedger starts a new file if the current one is full. Entries of one record stay in one
// file, so it needs the number of the next entry.
func (c *chat) rotateLedger(ctx context.Context, next int64) error {
	if c.ledger.size < c.store.rotate || next == c.tail.last {
		return nil
	}
	if err := c.ledger.sync(ctx); err != nil {
		return err
	}
	names, err := c.rotated(ctx)
	if err != nil {
		return harmless(err)
	}
	n := 1
	if len(names) > 0 {
		n = rotation(path.Base(names[len(names)-1])) + 1
	}
	if err := c.store.fs.Rename(c.ledger.h.Path(), c.path(fmt.Sprintf("%s/history.%d.jsonl", conversationsDir, n))); err != nil {
		return harmless(err)
	}
	c.ledger.replaced(0)
	c.ledger.exists = false
	// The full file needs its new name before another one gets the old one.
	return c.syncDir(ctx, c.path(conversationsDir))
}

// Ledger implements [persistence.Journal]. Damage is skipped and copied to quarantine.
func (c *chat) Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error] {
	return func(yield func(journal.LedgerEntry, error) bool) {
		var names []string
		err := c.do(ctx, "read ledger", false, func(ctx context.Context) (err error) {
			if err = c.ensureLoaded(ctx); err == nil {
				names, err = c.rotated(ctx)
			}
			names = append(names, c.ledger.h.Path())
			return err
		})
		if err != nil {
			yield(journal.LedgerEntry{}, err)
			return
		}
		for _, name := range slices.Backward(names) {
			if !c.ledgerFile(ctx, name, yield) {
				return
			}
		}
	}
}

// ledgerFile yields the entries of one file from its end, a window at a time, so that the caller may
// use the chat meanwhile. The windows grow, because most callers need only the newest entries.
func (c *chat) ledgerFile(ctx context.Context, name string, yield func(journal.LedgerEntry, error) bool) bool {
	const first = 16 << 10
	for end, window := int64(-1), int64(first); end != 0; window = min(4*window, vfs.Window) {
		var entries []journal.LedgerEntry
		err := c.do(ctx, "read ledger", false, func(ctx context.Context) (err error) {
			entries, end, err = c.ledgerWindow(ctx, name, end, window)
			return err
		})
		if err != nil {
			yield(journal.LedgerEntry{}, err)
			return false
		}
		for _, e := range slices.Backward(entries) {
			if !yield(e, nil) {
				return false
			}
		}
	}
	return true
}

// ledgerWindow reads the entries in front of end, or of the end of the file if that is negative, and
// returns where they begin. A line that is longer than the window is read completely.
func (c *chat) ledgerWindow(ctx context.Context, name string, end, window int64) (entries []journal.LedgerEntry, begin int64, err error) {
	var found linefile.Found
	err = c.store.files.Temporary(ctx, name, os.O_RDONLY, func(f vfs.File) (err error) {
		if end < 0 {
			if end, err = f.Size(); err != nil {
				return err
			}
		}
		for begin = end; begin == end && end > 0; window *= 4 {
			if begin, err = linefile.Start(f, max(0, end-window), end); err != nil {
				return err
			}
		}
		found, err = linefile.Scan(f, begin, end, func(_ int64, raw []byte, strict bool) bool {
			e, ok := linefile.ParseEntry(raw, strict)
			if ok {
				entries = append(entries, e)
			}
			return ok
		})
		return err
	})
	if isMissing(err) {
		return nil, 0, nil
	}
	for _, r := range found.Bad {
		if err := c.quarantine(ctx, name, r); err != nil {
			c.distrust(ctx, "copy to quarantine", c.flat(name), err)
		}
	}
	return entries, begin, err
}
