package journal

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Turn is a message of a history with its metadata decoded.
type Turn struct {
	uimessage.Message
	Meta uimessage.Metadata
	// Requests are the calls of an assistant message that asked a person, and
	// Egress the number of its last egress row if it has any of those.
	Requests []Request
	Egress   int
	// Switch is an order to switch the context that waits to be obeyed.
	Switch SwitchMark
}

// NewTurn decodes a message's metadata. Metadata that is not ours is left alone.
func NewTurn(m uimessage.Message) Turn {
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // what cannot be read stays in Extra
	t := Turn{Message: m, Meta: meta}
	if m.Role == uimessage.RoleAssistant {
		a := decodeAsked(meta)
		t.Requests, t.Switch = a.Requests, decodeSwitch(meta)
		t.Egress = max(a.Egress, t.Switch.Egress)
	}
	return t
}

// State is a chat as its facts made it. Only [State.Apply] and
// [State.AppendOpen] change it, live and on replay alike, so that a chat after a
// crash is the chat before it.
type State struct {
	History []Turn // in the order the model sees them
	Lane    []Turn // accepted during the run, not visible to it yet
	Run     *Run   // nil: none under way
	Outbox  []OutboxRow
	Parked  []Parked // turns put aside, the oldest first
	// Said are messages of the bot that no run of the chat wrote, and that wait for the end
	// of a step, or of a run, to take their place in the history.
	Said []Turn

	// Depth counts the bots behind the newest thing that was said here, one
	// answering the other; 0: a person said it. DepthAt is when, in Unix milliseconds.
	Depth, DepthAt int64

	N   int64 // of the last record
	Seq int64 // arrival number of the last ingress; equals the number of accepted ingresses

	// Pinned and Cursor are kept for the meta file.
	Pinned []string
	Cursor string
	// Shown are the rows that showed requests which are open, in the order of their
	// delivery, and Read is what readers of a chat without an outbox saw last.
	Shown []Showing
	Read  Reading
	// Referrals are the private chats that were asked about requests of this one and do
	// not know yet how those ended, Referred the requests of other chats that this one
	// shows, and Buttons the messages with buttons that do not show yet how all ended.
	Referrals []Referral
	Referred  []ReferredRequest
	Buttons   []ButtonRow

	asked     bool // a turn of the history holds requests for approval
	requests  int  // the highest number that a request ever had
	switching bool // a turn of the history may hold an order to switch the context
	ids       *ringSet
	turns     *idSet          // ids of History and Lane, and of what left the lane
	ended     map[string]bool // runs that the history file holds the end of; on replay only
	counts    Counts
	counted   int64 // the meta file, and with it counts, hold the facts as far as this record
	ledger    []LedgerEntry
	facts     int // in the journal, beyond what the last fold left there
	stumbles  []Stumble
	chained   int64               // arrival number that Depth is of
	stored    int                 // how many of History the history file holds
	dirty     []uimessage.Message // stored turns replaced since

	shared, countsShared bool // with the state that this one is a fork of
}

// Run is a run under way.
type Run struct {
	ID        string
	RequestID string
	MessageID string // of the assistant message under way
	Parts     []uimessage.Part
	Step      int // the last one that responded, 0 before the first
	Attempt   int
	Started   int64 // unix milliseconds
	Last      int64 // of its last record
	// Visible are the turns this run answers, with the step they became visible at.
	Visible []Visible
	Stop    *StopRequested
	// Begun are the calls whose effect may have begun.
	Begun map[string]bool
	Final bool // a tool asked to end the run
	// Switch is the order of a tool to go on in another context.
	Switch messages.ContextSwitch
	// Rows are the egress rows of the run's calls, by call id.
	Rows map[string]RowKey
	// Spoke: a call sent something since the newest turn became visible.
	Spoke bool
	// Egress counts the rows of the assistant message under way.
	Egress int
	// Base counts the parts that the message had when the run took it up: it
	// continues one that a person was asked in.
	Base int
	// Answers are those to requests of the message under way.
	Answers []RunAnswer
	// Shown is what people see of the calls that ask.
	Shown []Shown
}

// Visible is a turn that a run saw, from a step on.
type Visible struct {
	TurnID string
	Step   int
}

// OutboxRow is a row that is not delivered yet.
type OutboxRow struct {
	Row
	Sent   []messages.Receipt // of the parts that are there
	Draft  messages.Receipt   // of the placeholder; without an id: none
	Parked bool
	Reason string
	Maybe  bool  // a crash may have hidden a send
	Queued int64 // unix milliseconds; of a row that was retried: when
	Tries  int   // sends that failed, of a parked row
}

// Replay makes the state of a chat from what its store holds.
func Replay(snap Snapshot) (*State, error) {
	if snap.Meta.Version > MetaVersion {
		return nil, fmt.Errorf("replay meta of version %d: written by a newer version", snap.Meta.Version)
	}
	s := &State{
		N:        max(snap.Meta.N, snap.LedgerN),
		Seq:      snap.Meta.Seq,
		Pinned:   snap.Meta.Pinned,
		Cursor:   snap.Meta.Cursor,
		Shown:    slices.Clone(snap.Meta.Shown),
		Read:     snap.Meta.Read,
		Referred: slices.Clone(snap.Meta.Referred),
		Buttons:  slices.Clone(snap.Meta.Buttons),
		ids:      newRingSet(),
		turns:    newIDSet(len(snap.History)),
		ended:    map[string]bool{},
		counts:   snap.Meta.Counts.clone(),
		counted:  snap.Meta.N,
		Depth:    snap.Meta.Depth,
		DepthAt:  snap.Meta.DepthAt,
		chained:  snap.Meta.Seq,

		Referrals: slices.Clone(snap.Meta.Referrals),

		requests: snap.Meta.Requests,
	}
	for _, id := range snap.Meta.IngressIDs {
		s.ids.add(id)
	}
	for _, m := range snap.History {
		t := NewTurn(m)
		s.push(t)
		s.ids.add(t.Meta.IngressID)
		if t.Role == uimessage.RoleUser && t.Meta.Seq > s.Seq {
			s.chain(t.Meta.Depth, t.Meta.TS, t.Meta.Seq) // it came after the meta file
		}
		s.Seq = max(s.Seq, t.Meta.Seq)
	}
	s.stored = len(s.History)
	s.endedBefore(snap.Journal)
	for _, r := range snap.Journal {
		if err := s.Apply(r); err != nil {
			return nil, fmt.Errorf("replay record %d: %w", r.N, err)
		}
	}
	s.ended = nil
	s.ledger = slices.DeleteFunc(s.ledger, func(e LedgerEntry) bool { return e.N <= snap.LedgerN })
	for i := range s.Outbox {
		s.Outbox[i].Maybe = true
	}
	return s, nil
}

// endedBefore finds the runs of a journal whose last message is in the history already:
// a crash came while it was folded. The last message alone tells, since a run that goes
// on in the message of another one closes that too, with a result, before it ends.
func (s *State) endedBefore(journal []Record) {
	for _, r := range journal {
		f, ok := r.Fact.(RunFinished)
		if !ok {
			continue
		}
		if t, _ := s.find(f.Message.ID); t != nil && ended(t) && t.of(f.RunID) {
			s.ended[f.RunID] = true
		}
	}
}

// of reports whether a run wrote the turn, alone or after others.
func (t *Turn) of(run string) bool {
	return t.Meta.RunID == run || slices.ContainsFunc(t.Meta.Fates, func(f uimessage.FateRecord) bool { return f.RunID == run })
}

// Known reports whether an ingress id was handled before.
func (s *State) Known(ingressID string) bool { return s.ids.has(ingressID) }

// AppendOpen adds user turns that the store wrote straight to the history.
func (s *State) AppendOpen(turns ...Turn) {
	for _, t := range turns {
		s.accept(t)
		s.came(t)
		s.push(t)
	}
	s.stored = len(s.History)
}

// Clean reports whether the journal is empty, so that an idle turn may go straight
// to the history. What a fold leaves in it is owed, put aside or a stumble.
func (s *State) Clean() bool {
	return s.facts == 0 && len(s.Outbox) == 0 && len(s.Parked) == 0 && len(s.stumbles) == 0 && len(s.Said) == 0
}

// HasFacts reports whether the journal holds anything beyond what the last checkpoint left in it.
func (s *State) HasFacts() bool { return s.facts > 0 }

// Open are the turns without a fate: those behind the last assistant turn that
// ended a run, and the lane.
func (s *State) Open() []Turn {
	var open []Turn
	for _, t := range s.History[s.answered():] {
		if t.Role == uimessage.RoleUser {
			open = append(open, t)
		}
	}
	return append(open, s.Lane...)
}

// OpenTurns counts them.
func (s *State) OpenTurns() int {
	n := len(s.Lane)
	for i := s.answered(); i < len(s.History); i++ {
		if s.History[i].Role == uimessage.RoleUser {
			n++
		}
	}
	return n
}

// answered is how much of the history no open turn is in.
func (s *State) answered() int {
	i := len(s.History)
	for i > 0 && !ended(&s.History[i-1]) {
		i--
	}
	return i
}

func ended(t *Turn) bool {
	return t.Role == uimessage.RoleAssistant && (t.Meta.Result != "" || t.Meta.Kind == uimessage.KindSummary)
}

// Counts are the chat's conservation counts. Accepted comes from the arrival
// numbers, the fates from the ledger: two sources that must agree with what is open.
func (s *State) Counts() Counts {
	c := s.counts.clone()
	c.Accepted = s.Seq
	return c
}

// Fates are those of the counts, in no order.
func (s *State) Fates() iter.Seq2[Fate, int64] { return maps.All(s.counts.Fates) }

// Pending are the rows that are neither delivered nor parked.
func (s *State) Pending() []OutboxRow {
	var rows []OutboxRow
	for _, r := range s.Outbox {
		if !r.Parked {
			rows = append(rows, r)
		}
	}
	return rows
}

// Row finds an outbox row; nil when it is settled.
func (s *State) Row(key RowKey) *OutboxRow {
	for i := range s.Outbox {
		if s.Outbox[i].Key == key {
			return &s.Outbox[i]
		}
	}
	return nil
}

// Has reports whether a turn of the history or the lane has the id.
func (s *State) Has(turnID string) bool {
	t, _ := s.find(turnID)
	return t != nil
}

// push puts a turn at the end of the history.
func (s *State) push(t Turn) {
	s.turns.add(t.ID)
	s.noteRequests(t)
	s.switching = s.switching || t.Switch.Kind != ""
	s.History = append(s.History, t)
}

func (s *State) accept(t Turn) {
	s.ids.add(t.Meta.IngressID)
	s.Seq = max(s.Seq, t.Meta.Seq)
}

// find looks a turn up, newest first.
func (s *State) find(id string) (*Turn, bool) {
	if !s.turns.has(id) { // most ids are new, and histories long
		return nil, false
	}
	for i := len(s.Lane) - 1; i >= 0; i-- {
		if s.Lane[i].ID == id {
			return &s.Lane[i], false
		}
	}
	for i := len(s.History) - 1; i >= 0; i-- {
		if s.History[i].ID == id {
			return &s.History[i], i < s.stored
		}
	}
	return nil, false
}

// clone copies counts so that their maps are not shared.
func (c Counts) clone() Counts {
	out := Counts{Accepted: c.Accepted, Fates: map[Fate]int64{}, Egress: map[string]int64{}}
	maps.Copy(out.Fates, c.Fates)
	maps.Copy(out.Egress, c.Egress)
	return out
}

// Unfolded counts what the next fold moves: a measure of the journal's length.
func (s *State) Unfolded() int {
	return len(s.History) - s.stored + len(s.ledger) + len(s.dirty)
}
