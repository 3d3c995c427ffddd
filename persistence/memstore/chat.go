package memstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Causes of refusing a rewrite.
var (
	errRange  = errors.New("range outside of the history")
	errTwice  = errors.New("two messages with one id")
	errExists = errors.New("an archive of that name holds other lines")
)

// chat is the handle of one chat.
type chat struct {
	store *Store
	key   messages.ChatKey

	mu     sync.Mutex
	closed bool
	data   *data
}

// do runs an operation; with the disk locked, since others list what it holds.
func (c *chat) do(ctx context.Context, op string, fn func(d *data) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return &persistence.Error{Op: op, Chat: string(c.key), Cause: persistence.ErrClosed}
	}
	err := context.Cause(ctx)
	if err == nil {
		c.store.disk.mu.Lock()
		err = fn(c.data)
		c.store.disk.mu.Unlock()
	}
	if err != nil {
		return &persistence.Error{Op: op, Chat: string(c.key), Cause: err, Retryable: true}
	}
	return nil
}

// Load implements [persistence.Chat].
func (c *chat) Load(ctx context.Context) (snap journal.Snapshot, err error) {
	err = c.do(ctx, "load", func(d *data) error {
		for _, t := range d.turns {
			snap.History = append(snap.History, t.message)
		}
		snap.Journal = slices.Clone(d.journal)
		snap.Meta = cloneMeta(d.meta)
		if n := len(d.ledger); n > 0 {
			snap.LedgerN = d.ledger[n-1].N
		}
		return nil
	})
	return snap, err
}

// Append implements [persistence.Journal].
func (c *chat) Append(ctx context.Context, records ...journal.Record) error {
	return c.do(ctx, "append journal", func(d *data) error { return d.note(records) })
}

// Note implements [persistence.Journal].
func (c *chat) Note(ctx context.Context, records ...journal.Record) error {
	return c.do(ctx, "note journal", func(d *data) error { return d.note(records) })
}

func (d *data) note(records []journal.Record) error {
	copies, err := copyRecords(records)
	if err != nil || len(copies) == 0 {
		return err
	}
	last := d.last
	for _, r := range copies {
		if r.N <= last {
			return fmt.Errorf("%w: %d after %d", errNumber, r.N, last)
		}
		last = r.N
	}
	d.written, d.last = true, last
	d.journal = append(d.journal, copies...)
	return nil
}

// errNumber is the cause of refusing records whose numbers do not grow.
var errNumber = errors.New("record number given before")

// copyRecords takes records through their codec, as a file would.
func copyRecords(records []journal.Record) ([]journal.Record, error) {
	var out []journal.Record
	for _, r := range records {
		again, err := journal.ParseRecord(journal.AppendRecord(nil, r))
		if err != nil {
			return nil, err
		}
		out = append(out, again)
	}
	return out, nil
}

// AppendHistory implements [persistence.Journal].
func (c *chat) AppendHistory(ctx context.Context, turns ...uimessage.Message) error {
	return c.do(ctx, "append history", func(d *data) error {
		if len(d.journal) > 0 {
			return persistence.ErrNotCut
		}
		lines, err := decodeAll(turns)
		if err != nil {
			return err
		}
		d.add(lines)
		return nil
	})
}

// decodeAll takes messages through their codec, as a file would.
func decodeAll(messages []uimessage.Message) ([]turn, error) {
	var out []turn
	for _, m := range messages {
		t, err := decode(line(m))
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// add adds turns; one with an id seen before takes its place.
func (d *data) add(turns []turn) {
	for _, t := range turns {
		d.written = true
		if i, seen := d.places[t.message.ID]; seen {
			d.turns[i] = t
			continue
		}
		d.places[t.message.ID] = len(d.turns)
		d.turns = append(d.turns, t)
	}
}

// Fold implements [persistence.Journal].
func (c *chat) Fold(ctx context.Context, fold journal.Fold) error {
	return c.do(ctx, "fold", func(d *data) error {
		turns, err := decodeAll(fold.History)
		if err != nil {
			return err
		}
		rest, err := copyRecords(fold.Rest)
		if err != nil {
			return err
		}
		d.add(turns)
		d.enter(fold.Ledger)
		for _, r := range rest {
			d.last = max(d.last, r.N)
		}
		d.journal, d.meta, d.written = rest, cloneMeta(fold.Meta), true
		return nil
	})
}

// enter adds the ledger entries that are not there yet.
func (d *data) enter(entries []journal.LedgerEntry) {
	last, have := int64(0), map[string]bool{}
	if n := len(d.ledger); n > 0 {
		last = d.ledger[n-1].N
	}
	for _, e := range slices.Backward(d.ledger) {
		if e.N != last {
			break
		}
		have[string(journal.AppendLedgerEntry(nil, e))] = true
	}
	byNumber := func(a, b journal.LedgerEntry) int { return cmp.Compare(a.N, b.N) }
	for _, e := range slices.SortedStableFunc(slices.Values(entries), byNumber) {
		if e.N < last || e.N == last && have[string(journal.AppendLedgerEntry(nil, e))] {
			continue
		}
		e.Receipt = slices.Clone(e.Receipt)
		d.ledger = append(d.ledger, e)
	}
}

// Ledger implements [persistence.Journal].
func (c *chat) Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error] {
	return func(yield func(journal.LedgerEntry, error) bool) {
		var entries []journal.LedgerEntry
		err := c.do(ctx, "read ledger", func(d *data) error {
			entries = slices.Clone(d.ledger)
			return nil
		})
		if err != nil {
			yield(journal.LedgerEntry{}, err)
			return
		}
		for _, e := range entries {
			e.Receipt = slices.Clone(e.Receipt)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Rewrite implements [persistence.Rewriter].
func (c *chat) Rewrite(ctx context.Context, r journal.Rewrite) error {
	return c.do(ctx, "rewrite", func(d *data) error {
		if r.From < 0 || r.To < r.From || r.To > len(d.turns) {
			return fmt.Errorf("%w: %d to %d of %d", errRange, r.From, r.To, len(d.turns))
		}
		gone := d.turns[r.From:r.To]
		insert, err := decodeAll(r.Insert)
		if err != nil {
			return err
		}
		after := slices.Concat(d.turns[:r.From], insert, d.turns[r.To:])
		places := map[string]int{}
		for i, t := range after {
			if _, seen := places[t.message.ID]; seen {
				return fmt.Errorf("%w: %q", errTwice, t.message.ID)
			}
			places[t.message.ID] = i
		}
		if err := d.archive(c.key, r, gone); err != nil {
			return err
		}
		if err := d.archiveContext(r.Context); err != nil {
			return err
		}
		d.turns, d.places, d.meta, d.written = after, places, cloneMeta(r.Meta), true
		return nil
	})
}

func (d *data) archive(key messages.ChatKey, r journal.Rewrite, gone []turn) error {
	if r.ArchiveID == "" {
		return nil
	}
	lines := []string{}
	for _, t := range gone {
		lines = append(lines, t.line)
	}
	if old, ok := d.archives[r.ArchiveID]; ok && !slices.Equal(old.Lines, lines) {
		return errExists
	}
	d.archives[r.ArchiveID] = journal.Archive{
		Version: 1, ChatKey: key, ArchivedAt: r.At.UnixMilli(), SourceRange: sourceRange(r.Insert, gone), Lines: lines,
	}
	return nil
}

// ReadArchive implements [persistence.Rewriter].
func (c *chat) ReadArchive(ctx context.Context, id string) (a journal.Archive, err error) {
	err = c.do(ctx, "read archive", func(d *data) error {
		found, ok := d.archives[id]
		if !ok {
			return fmt.Errorf("%w: archive %q", persistence.ErrNotFound, id)
		}
		a = found
		a.SourceRange, a.Lines = slices.Clone(found.SourceRange), slices.Clone(found.Lines)
		return nil
	})
	return a, err
}

// Wake implements [persistence.Waker].
func (c *chat) Wake(ctx context.Context) error { return c.mark(ctx, "wake", true) }

// Rest implements [persistence.Waker].
func (c *chat) Rest(ctx context.Context) error { return c.mark(ctx, "rest", false) }

func (c *chat) mark(ctx context.Context, op string, marked bool) error {
	return c.do(ctx, op, func(d *data) error {
		d.marked = marked
		return nil
	})
}

// Close implements [persistence.Chat].
func (c *chat) Close() error {
	c.shut()
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.store.open[c.key] == c {
		delete(c.store.open, c.key)
	}
	return nil
}

func (c *chat) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

func cloneMeta(m journal.Meta) journal.Meta {
	m.IngressIDs, m.Pinned = slices.Clone(m.IngressIDs), slices.Clone(m.Pinned)
	m.Counts.Fates, m.Counts.Egress = maps.Clone(m.Counts.Fates), maps.Clone(m.Counts.Egress)
	return m
}
