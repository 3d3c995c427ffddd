package journal

import "github.com/shipmyagent/shipmyagent/messages/uimessage"

// Tally is the part of a ledger entry that is needed to rebuild the meta file.
type Tally struct {
	N    int64
	Dir  string
	Fate Fate
}

// RebuildMeta rebuilds the meta of a chat whose own was lost, wholly or in part, from all other data. snap.Meta is
// what is left of it, ledger are all entries, and archived are the turns that rewrites removed, oldest first. checkpointed
// is the number up to which journal records are known to be in the other files.
//
// Ids of ingresses that became no turn cannot be recovered. Pinned, Cursor, Model and Effort are taken from snap.Meta.
func RebuildMeta(snap Snapshot, checkpointed int64, ledger []Tally, archived []uimessage.Message) (Meta, error) {
	m := Meta{
		Version: MetaVersion, Pinned: snap.Meta.Pinned, Cursor: snap.Meta.Cursor, Model: snap.Meta.Model, Effort: snap.Meta.Effort, Tries: snap.Meta.Tries, Seq: snap.Meta.Seq, Requests: snap.Meta.Requests,
		Referrals: snap.Meta.Referrals, Referred: snap.Meta.Referred, Buttons: snap.Meta.Buttons,
		// The counts below cover the ledger up to this number.
		N: max(snap.LedgerN, checkpointed),
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
		case e.N > m.N: // its record is still in the journal
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
	// Every accepted ingress either has a fate or is open.
	accepted := int64(state.OpenTurns())
	for _, n := range state.Counts().Fates {
		accepted += n
	}
	m.Seq = max(state.Seq, accepted)
	m.Counts.Accepted = m.Seq
	return m, nil
}
