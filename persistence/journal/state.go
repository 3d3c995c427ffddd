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
	// Requests are the calls of an assistant message that asked a person. Egress is the number of the message's last
	// outbox row, if it is known.
	Requests []Request
	Egress   int
	// Switch is an order to switch the context that has not been carried out.
	Switch SwitchMark
}

// NewTurn decodes the metadata of a message. Metadata in another format is left alone.
func NewTurn(m uimessage.Message) Turn {
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // what cannot be decoded stays in Extra
	t := Turn{Message: m, Meta: meta}
	if m.Role == uimessage.RoleAssistant {
		a := memberOf[asked](meta, askedMember)
		t.Requests, t.Switch = a.Requests, memberOf[SwitchMark](meta, switchMember)
		t.Egress = max(a.Egress, t.Switch.Egress)
	}
	return t
}

// State is a chat as built by its facts. [State.Apply] and [State.AppendOpen] change it in the same way in normal
// operation and on replay, so that a crash does not change the state.
type State struct {
	History    []Turn // in the order the model sees them
	Lane       []Turn // accepted during the run, not visible to it yet
	Run        *Run   // nil if no run is in progress
	Outbox     []OutboxRow
	Quarantine []Quarantined // quarantined turns, oldest first
	// Said are messages of the bot that no run of this chat wrote. They wait for the end of a step or run before they
	// are appended to the history.
	Said []Turn

	// Model is the name of the model that people chose for the chat, or empty; Effort is the word for how much it
	// thinks, or empty.
	Model, Effort string
	// Depth is the number of consecutive bot messages up to the newest message here, or 0 if a person wrote it.
	// DepthAt is its time in Unix milliseconds.
	Depth, DepthAt int64

	N   int64 // number of the last record
	Seq int64 // arrival number of the last ingress; equals the number of accepted ingresses

	// Pinned and Cursor are kept for the meta file.
	Pinned []string
	Cursor string
	// Shown are the rows that showed open requests, in the order of delivery. Read is what readers of a chat without
	// an outbox saw last.
	Shown []Showing
	Read  Reading
	// Referrals are the private chats that were asked about requests of this chat and have not confirmed how those
	// ended. Referred are the requests of other chats that this chat shows. Buttons are the messages with buttons that
	// do not show yet how all of their requests ended.
	Referrals []Referral
	Referred  []ReferredRequest
	Buttons   []ButtonRow

	asked     bool // the history may contain requests for approval
	requests  int  // the highest number that a request ever had
	switching bool // the history may contain an order to switch the context
	ids       *ringSet
	turns     *idSet          // ids of History and Lane, and of turns that left the lane
	ended     map[string]bool // runs whose end the history file contains; only used on replay
	counts    Counts
	counted   int64 // the meta file and its counts cover the facts up to this record
	ledger    []LedgerEntry
	facts     int // number of facts since the last checkpoint
	crashes   []Crash
	chained   int64               // arrival number that Depth belongs to
	stored    int                 // how many turns of History the history file contains
	dirty     []uimessage.Message // stored turns that were replaced since the last checkpoint

	shared, countsShared bool // shared with the state that this one was forked from
}

// Run is a run in progress.
type Run struct {
	ID        string
	RequestID string
	MessageID string // id of the assistant message in progress
	Parts     []uimessage.Part
	Step      int // last step that responded, 0 before the first
	Attempt   int
	Started   int64 // unix milliseconds
	Last      int64 // time of its last record
	// Visible are the turns that this run answers, with the step at which they became visible.
	Visible []Visible
	Stop    *StopRequested
	// Begun are the calls that may have begun to take effect.
	Begun map[string]bool
	Final bool // a tool asked to end the run
	// Switch is a tool's order to continue in another context.
	Switch messages.ContextSwitch
	// Rows are the outbox rows of the run's calls, by call id.
	Rows map[string]RowKey
	// Spoke is set if a call has sent something since the newest turn became visible.
	Spoke bool
	// Egress is the number of outbox rows of the message in progress.
	Egress int
	// Base is the number of parts that the message already had when the run began, because the run continues a message
	// in which a person was asked.
	Base int
	// Answers are the decisions on requests of the message in progress.
	Answers []RunAnswer
	// Shown is what people see of the calls that ask.
	Shown []Shown
}

// Visible is a turn that a run sees from a step on.
type Visible struct {
	TurnID string
	Step   int
}

// OutboxRow is a row that has not been delivered yet.
type OutboxRow struct {
	Row
	Sent   []messages.Receipt // receipts of the parts that were sent
	Draft  messages.Receipt   // receipt of the placeholder; its id is empty if there is no placeholder
	Parked bool
	Reason string
	Maybe  bool  // a part may have been sent without a receipt, because of a crash
	Queued int64 // unix milliseconds; for a retried row the time of the retry
	Tries  int   // failed attempts of a parked row
}

// Replay builds the state of a chat from its stored data.
func Replay(snap Snapshot) (*State, error) {
	if snap.Meta.Version > MetaVersion {
		return nil, fmt.Errorf("read meta file of version %d: written by a newer version", snap.Meta.Version)
	}
	s := &State{
		N:        max(snap.Meta.N, snap.LedgerN),
		Seq:      snap.Meta.Seq,
		Pinned:   snap.Meta.Pinned,
		Cursor:   snap.Meta.Cursor,
		Model:    snap.Meta.Model,
		Effort:   snap.Meta.Effort,
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
			s.chain(t.Meta.Depth, t.Meta.TS, t.Meta.Seq) // it arrived after the meta file was written
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
		s.Outbox[i].Maybe = s.Outbox[i].Maybe || !s.Outbox[i].Parked
	}
	return s, nil
}

// endedBefore finds the runs of a journal whose last message is already in the history, because a crash interrupted a
// checkpoint. Only the last message shows this: a run that continues another run's message also closes that message
// with a result before it ends.
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

// of reports whether a run wrote the turn or a part of it.
func (t *Turn) of(run string) bool {
	return t.Meta.RunID == run || slices.ContainsFunc(t.Meta.Fates, func(f uimessage.FateRecord) bool { return f.RunID == run })
}

// Known reports whether an ingress id was handled before.
func (s *State) Known(ingressID string) bool { return s.ids.has(ingressID) }

// AppendOpen adds user turns that the store appended to the history directly.
func (s *State) AppendOpen(turns ...Turn) {
	for _, t := range turns {
		s.accept(t)
		s.arrived(t)
		s.push(t)
	}
	s.stored = len(s.History)
}

// Clean reports whether the journal is empty, so that a turn that arrives in an idle chat may be appended to the
// history directly. After a checkpoint the journal may still contain undelivered rows, quarantined turns and crashes.
func (s *State) Clean() bool {
	return s.facts == 0 && len(s.Outbox) == 0 && len(s.Quarantine) == 0 && len(s.crashes) == 0 && len(s.Said) == 0
}

// HasFacts reports whether the journal contains facts since the last checkpoint.
func (s *State) HasFacts() bool { return s.facts > 0 }

// Open returns the turns without a fate: those after the last assistant turn that ended a run, and the lane.
func (s *State) Open() []Turn {
	var open []Turn
	for _, t := range s.History[s.answered():] {
		if t.Role == uimessage.RoleUser {
			open = append(open, t)
		}
	}
	return append(open, s.Lane...)
}

// OpenTurns returns the number of open turns.
func (s *State) OpenTurns() int {
	n := len(s.Lane)
	for i := s.answered(); i < len(s.History); i++ {
		if s.History[i].Role == uimessage.RoleUser {
			n++
		}
	}
	return n
}

// answered returns the length of the beginning of the history that has no open turns.
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

// Counts returns the counts of the chat. Accepted comes from the arrival numbers and the fates from the ledger;
// together with the number of open turns the two must agree.
func (s *State) Counts() Counts {
	c := s.counts.clone()
	c.Accepted = s.Seq
	return c
}

// Fates iterates over the counts of fates, in no order.
func (s *State) Fates() iter.Seq2[Fate, int64] { return maps.All(s.counts.Fates) }

// Pending returns the rows that are neither delivered nor parked.
func (s *State) Pending() []OutboxRow {
	var rows []OutboxRow
	for _, r := range s.Outbox {
		if !r.Parked {
			rows = append(rows, r)
		}
	}
	return rows
}

// Row returns the outbox row with the given key, or nil if it is settled.
func (s *State) Row(key RowKey) *OutboxRow {
	for i := range s.Outbox {
		if s.Outbox[i].Key == key {
			return &s.Outbox[i]
		}
	}
	return nil
}

// Has reports whether a turn of the history or the lane has the given id.
func (s *State) Has(turnID string) bool {
	t, _ := s.find(turnID)
	return t != nil
}

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

// find returns a turn by id, and whether the history file contains it. It searches from the newest turn.
func (s *State) find(id string) (*Turn, bool) {
	if !s.turns.has(id) { // most ids are new, and histories are long
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

func (c Counts) clone() Counts {
	out := Counts{Accepted: c.Accepted, Fates: map[Fate]int64{}, Egress: map[string]int64{}}
	maps.Copy(out.Fates, c.Fates)
	maps.Copy(out.Egress, c.Egress)
	return out
}

// Uncheckpointed returns how much the next checkpoint will move, which is a measure of the journal's length.
func (s *State) Uncheckpointed() int {
	return len(s.History) - s.stored + len(s.ledger) + len(s.dirty)
}
