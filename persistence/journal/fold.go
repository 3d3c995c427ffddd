package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// The directions of ledger entries.
const (
	DirIn  = "in"
	DirOut = "out"
)

// Fold is what can leave the journal now. It may be called only while no run is in
// progress. After the store took it, call [State.Folded]. See [State.Meta] for what the
// caller adds.
func (s *State) Fold(ts int64) Fold {
	f := Fold{Ledger: s.ledger}
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
	f.Rest = append(f.Rest, s.restAside(ts, next)...)
	f.Meta = s.Meta()
	return f
}

// UnfoldedLedger are the entries that are not in the ledger yet, oldest first.
func (s *State) UnfoldedLedger() []LedgerEntry { return s.ledger }

// Folded tells the state that its fold is durable.
func (s *State) Folded() {
	s.stored, s.dirty, s.ledger, s.facts = len(s.History), nil, nil, 0
	s.counted = s.N
}

// Meta is the meta file's content for the state as it is. What is known of compactions is
// not part of the state: whoever writes the file adds it.
func (s *State) Meta() Meta {
	return Meta{
		Version: MetaVersion, IngressIDs: s.ids.list(), Pinned: s.Pinned, Cursor: s.Cursor,
		Shown: s.showings(), Read: s.Read, Referrals: slices.Clone(s.Referrals), Referred: s.referredRequests(), Buttons: slices.Clone(s.Buttons),
		N: s.N, Seq: s.Seq, Counts: s.Counts(), Depth: s.Depth, DepthAt: s.DepthAt, Requests: s.requests,
	}
}

// rest is a row that is still owed, as records with fresh numbers and the time
// since which it is. What it says of bots is known from the meta file.
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
		records = append(records, next(row.Queued, EgressSettled{Key: row.Key, Outcome: EgressParked, Reason: row.Reason, Tries: row.Tries}))
	}
	return records
}

// Reserve keeps the numbers up to n from being given again.
func (s *State) Reserve(n int64) { s.N = max(s.N, n) }

// Next numbers facts for the journal.
func (s *State) Next(ts int64, facts ...Fact) []Record {
	records := make([]Record, len(facts))
	for i, f := range facts {
		records[i] = Record{N: s.N + int64(i) + 1, TS: ts, Fact: f}
	}
	return records
}

// Messages are the history's messages, without metadata decoded.
func (s *State) Messages() []uimessage.Message {
	out := make([]uimessage.Message, len(s.History))
	for i, t := range s.History {
		out[i] = t.Message
	}
	return out
}

// MessagesForPeople are the history's messages as readers see them; see
// [Turn.ForPeople].
func (s *State) MessagesForPeople() []uimessage.Message {
	out := make([]uimessage.Message, len(s.History))
	for i := range s.History {
		out[i] = s.History[i].ForPeople()
	}
	return out
}

// EndsOpen reports whether the first n turns hold a user turn that no assistant
// turn with a result follows among them: it would be open once the rest is cut.
func (s *State) EndsOpen(n int) bool {
	for ; n > 0 && !ended(&s.History[n-1]); n-- {
		if s.History[n-1].Role == uimessage.RoleUser {
			return true
		}
	}
	return false
}
