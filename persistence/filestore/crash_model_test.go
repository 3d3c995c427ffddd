package filestore_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// model is a chat as the contract describes it, in memory and without the code of the store. The
// state of the store after a crash is compared with it. It accepts only what a store would accept.
type model struct {
	persistence.Chat // Nothing else is called.

	turns    []uimessage.Message
	journal  []journal.Record
	ledger   []journal.LedgerEntry
	meta     journal.Meta
	archives map[string]journal.Archive
}

func newModel() *model { return &model{archives: map[string]journal.Archive{}} }

// stored encodes and decodes a value, like a file would.
func stored(m uimessage.Message) uimessage.Message {
	again, err := uimessage.Decode(uimessage.AppendJSON(nil, m))
	if err != nil {
		panic(fmt.Sprintf("a turn of the test: %v", err))
	}
	return again
}

func (m *model) Load(context.Context) (journal.Snapshot, error) {
	snap := journal.Snapshot{History: slices.Clone(m.turns), Journal: slices.Clone(m.journal), Meta: m.meta}
	if n := len(m.ledger); n > 0 {
		snap.LedgerN = m.ledger[n-1].N
	}
	return snap, nil
}

func (m *model) Append(_ context.Context, records ...journal.Record) error {
	m.journal = append(m.journal, records...)
	return nil
}

func (m *model) Note(ctx context.Context, records ...journal.Record) error {
	return m.Append(ctx, records...)
}

func (m *model) AppendHistory(_ context.Context, turns ...uimessage.Message) error {
	if len(m.journal) > 0 {
		return persistence.ErrNotCut
	}
	m.add(turns)
	return nil
}

// add adds turns at the end, or replaces the turn with the same id.
func (m *model) add(turns []uimessage.Message) {
	for _, t := range turns {
		i := slices.IndexFunc(m.turns, func(old uimessage.Message) bool { return old.ID == t.ID })
		if i < 0 {
			m.turns = append(m.turns, stored(t))
		} else {
			m.turns[i] = stored(t)
		}
	}
}

func (m *model) Checkpoint(_ context.Context, cp journal.Checkpoint) error {
	m.add(cp.History)
	m.enter(cp.Ledger)
	m.journal, m.meta = slices.Clone(cp.Rest), cp.Meta
	return nil
}

// enter adds the entries that the ledger does not contain yet, in the order of their records.
func (m *model) enter(entries []journal.LedgerEntry) {
	last, held := int64(0), map[string]bool{}
	for _, e := range m.ledger {
		last = e.N
		held[string(journal.AppendLedgerEntry(nil, e))] = true
	}
	byNumber := func(a, b journal.LedgerEntry) int { return cmp.Compare(a.N, b.N) }
	for _, e := range slices.SortedStableFunc(slices.Values(entries), byNumber) {
		if e.N > last || e.N == last && !held[string(journal.AppendLedgerEntry(nil, e))] {
			m.ledger = append(m.ledger, e)
		}
	}
}

func (m *model) Ledger(context.Context) iter.Seq2[journal.LedgerEntry, error] {
	return func(yield func(journal.LedgerEntry, error) bool) {
		for _, e := range slices.Backward(m.ledger) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *model) Rewrite(_ context.Context, r journal.Rewrite) error {
	if r.ArchiveID != "" {
		a := journal.Archive{Version: 1, ChatKey: crashKey, ArchivedAt: r.At.UnixMilli()}
		for _, t := range m.turns[r.From:r.To] {
			a.Lines = append(a.Lines, string(uimessage.AppendJSON(nil, t)))
		}
		m.archives[r.ArchiveID] = a
	}
	var insert []uimessage.Message
	for _, t := range r.Insert {
		insert = append(insert, stored(t))
	}
	m.turns, m.meta = slices.Concat(m.turns[:r.From], insert, m.turns[r.To:]), r.Meta
	return nil
}

func (m *model) ReadArchive(_ context.Context, id string) (journal.Archive, error) {
	a, ok := m.archives[id]
	if !ok {
		return a, fmt.Errorf("%w: archive %q", persistence.ErrNotFound, id)
	}
	return a, nil
}

func (*model) Wake(context.Context) error { return nil }

func (*model) Rest(context.Context) error { return nil }
