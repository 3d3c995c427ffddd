package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Directions of ledger entries.
const (
	DirIn  = "in"
	DirOut = "out"
)

// Checkpoint returns what a checkpoint moves out of the journal. It may be called only while no run is in progress. Once the
// store has written it, call [State.Checkpointed]. See [State.Meta] for what the caller must add.
func (s *State) Checkpoint(ts int64) Checkpoint {
	f := Checkpoint{Ledger: s.ledger}
	f.History = append(f.History, s.dirty...)
	for _, t := range s.History[s.stored:] {
		f.History = append(f.History, t.Message)
	}
	next := func(ts int64, f Fact) Record {
		s.N++
		return Record{N: s.N, TS: ts, Fact: f}
	}
	for _, row := range s.Outbox {
		f.Rest = append(f.Rest, rest(row, next)...)
	}
	for _, t := range s.Said {
		f.Rest = append(f.Rest, next(ts, WordsSaid{Message: t.Message}))
	}
	f.Rest = append(f.Rest, s.restQuarantine(ts, next)...)
	f.Meta = s.Meta()
	return f
}

// UncheckpointedLedger returns the entries that are not in the ledger file yet, oldest first.
func (s *State) UncheckpointedLedger() []LedgerEntry { return s.ledger }

// Checkpointed updates the state after its checkpoint has become durable.
func (s *State) Checkpointed() {
	s.stored, s.dirty, s.ledger, s.facts = len(s.History), nil, nil, 0
	s.counted = s.N
}

// Meta returns the content of the meta file for the current state. The caller adds the data about compactions, which
// is not part of the state.
func (s *State) Meta() Meta {
	return Meta{
		Version: MetaVersion, IngressIDs: s.ids.list(), Pinned: s.Pinned, Cursor: s.Cursor, Model: s.Model, Effort: s.Effort,
		Shown: s.showings(), Read: s.Read, Referrals: slices.Clone(s.Referrals), Referred: s.referredRequests(), Buttons: slices.Clone(s.Buttons),
		N: s.N, Seq: s.Seq, Counts: s.Counts(), Depth: s.Depth, DepthAt: s.DepthAt, Requests: s.requests,
	}
}

// rest returns an undelivered row as records with new numbers and its original time. The row's Depth is omitted
// because the meta file contains it.
func rest(row OutboxRow, next func(ts int64, f Fact) Record) []Record {
	row.Depth, row.Seq = 0, 0
	records := []Record{next(row.Queued, EgressQueued{Row: row.Row})}
	if row.Draft.ID != "" {
		records = append(records, next(row.Queued, EgressSent{Key: row.Key, MessageID: row.Draft.ID, Order: row.Draft.Order, Draft: true}))
	}
	for i, r := range row.Sent {
		records = append(records, next(row.Queued, EgressSent{Key: row.Key, Part: i, MessageID: r.ID, Order: r.Order}))
	}
	if row.Parked {
		records = append(records, next(row.Queued, EgressSettled{Key: row.Key, Outcome: EgressParked, Reason: row.Reason, Tries: row.Tries, Maybe: row.Maybe}))
	}
	return records
}

// Reserve prevents record numbers up to n from being reused.
func (s *State) Reserve(n int64) { s.N = max(s.N, n) }

// Next assigns record numbers to facts.
func (s *State) Next(ts int64, facts ...Fact) []Record {
	records := make([]Record, len(facts))
	for i, f := range facts {
		records[i] = Record{N: s.N + int64(i) + 1, TS: ts, Fact: f}
	}
	return records
}

// MessagesForPeople returns the messages of the history as people see them; see [Turn.ForPeople].
func (s *State) MessagesForPeople() []uimessage.Message {
	out := make([]uimessage.Message, len(s.History))
	for i := range s.History {
		out[i] = s.History[i].ForPeople()
	}
	return out
}

// EndsOpen reports whether the history would have an open user turn if it were cut after the first n turns.
func (s *State) EndsOpen(n int) bool {
	for ; n > 0 && !ended(&s.History[n-1]); n-- {
		if s.History[n-1].Role == uimessage.RoleUser {
			return true
		}
	}
	return false
}
