// Package decision is what all parts of a chat's machine share: what a chat is asked to decide ([Input]), what it plans
// ([Plan] and its effects), how it may be set up ([Options]), and [Base], with which the parts plan writes and effects
// and find the words for people.
package decision

import (
	"context"
	"iter"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Base is what all parts of a chat decide with: the chat's identity and state, the input, and the plan so far. Its
// methods plan writes and effects. A copy of it is used for one decision.
type Base struct {
	*Options
	Key      messages.ChatKey
	Addr     messages.Address // from the key; zero if that has another form
	Platform string           // its full name, for example telegram@work
	Via      Adapter          // how the chat's people are reached
	Store    Archive
	State    *journal.State

	ChatType, Title string // as last seen
	// RunID and RunChild are the run in progress and the name of its actor. The name is empty while the run is only
	// being settled.
	RunID, RunChild string
	Watching        map[string]Ref                        // watchers by the ids of their watches
	Handed          map[journal.RowKey]bool               // rows that the adapter has
	Receipts        map[journal.RowKey][]messages.Receipt // receipts of sent rows until they are in the journal
	Delayed         map[journal.RowKey]messages.EgressDelayed
	Waits           Held
	Marked          map[string]string // messages of people that carry a mark, by turn id
	Closing         bool              // the host is stopping
	// KeptTries and KeptTokens are what the meta file says of the chat's compactions.
	KeptTries  []int64
	KeptTokens journal.TokenCounts

	In      Input // the message being decided
	Plan    *Plan // the plan being made for it
	planned Plan  // what Plan points to
	owns    bool  // the state is a copy that may be changed
}

// Archive is the part of the chat's store that is read on demand, in addition to the state.
type Archive interface {
	Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error]
	ReadArchive(ctx context.Context, id string) (journal.Archive, error)
	Contexts(ctx context.Context) ([]journal.ContextItem, error)
	ReadContext(ctx context.Context, id string) (journal.Context, error)
}

// NewBase returns the base of a chat that has not been loaded.
func NewBase(o *Options, key messages.ChatKey) Base {
	b := Base{Options: o, Key: key}
	if addr, ok := key.Address(); ok {
		b.Addr, b.Platform = addr, addr.Platform
		if addr.Account != "" {
			b.Platform += "@" + addr.Account
		}
		b.Via, _ = o.Adapter(b.Platform)
	}
	return b
}

// Next returns a base for the next decision, which can be changed without affecting this one.
func (b Base) Next() Base {
	b.Watching, b.Handed, b.Receipts = Clone(b.Watching), Clone(b.Handed), Clone(b.Receipts)
	b.Delayed, b.Marked, b.Waits.until = Clone(b.Delayed), Clone(b.Marked), Clone(b.Waits.until)
	return b
}

// Begin starts a decision about an input.
func (b *Base) Begin(in Input) {
	b.In, b.planned, b.owns = in, Plan{}, false
	b.Plan = &b.planned
}

// End ends the decision and returns its plan.
func (b *Base) End() Plan {
	p := b.planned
	b.In, b.planned, b.Plan, b.owns = Input{}, Plan{}, nil, false
	return p
}
