package journal

import "github.com/shipmyagent/shipmyagent/messages/uimessage"

// Tally is what a rebuilt meta needs of a ledger entry.
type Tally struct {
	N    int64
	Dir  string
	Fate Fate
}

// RebuildMeta makes the meta of a chat whose own was lost, wholly or in part,
// from everything else: snap.Meta is what is left of it, ledger all entries, and
// archived the turns that rewrites took out, oldest first. folded is the number up
// to which journal records are known to be folded.
//
// Ids of ingresses that made no turn cannot be found again. Pinned and Cursor
// stay what is left of them.
func RebuildMeta(snap Snapshot, folded int64, ledger []Tally, archived []uimessage.Message) (Meta, error) {
	m := Meta{
		Version: MetaVersion, Pinned: snap.Meta.Pinned, Cursor: snap.Meta.Cursor, Tries: snap.Meta.Tries, Seq: snap.Meta.Seq, Requests: snap.Meta.Requests,
		Referrals: snap.Meta.Referrals, Referred: snap.Meta.Referred, Buttons: snap.Meta.Buttons,
		// The counts below are of the ledger as far as this, and no further.
		N: max(snap.LedgerN, folded),
	}
	ids := newRingSet()
	for _, t := range archived {
		turn := NewTurn(t)
		for _, r := range turn.Requests {
			m.Requests = max(m.Requests, r.N)
		}
		meta := turn.Meta
		ids.add(meta.IngressID)
		m.Seq = max(m.Seq, meta.Seq)
	}
	for _, id := range snap.Meta.IngressIDs {
		ids.add(id)
	}
	m.Counts = m.Counts.clone()
	for _, e := range ledger {
		switch {
		case e.N > m.N: // its record is in the journal still
		case e.Dir == DirIn:
			m.Counts.Fates[e.Fate]++
		default:
			m.Counts.Egress[string(e.Fate)]++
		}
	}
	m.IngressIDs = ids.list()
	snap.Meta = m
	state, err := Replay(snap)
	if err != nil {
		return Meta{}, err
	}
	m.IngressIDs, m.Requests = state.ids.list(), state.requests
	// Accepted equals what has a fate and what is open.
	accepted := int64(state.OpenTurns())
	for _, n := range state.Counts().Fates {
		accepted += n
	}
	m.Seq = max(state.Seq, accepted)
	m.Counts.Accepted = m.Seq
	return m, nil
}
