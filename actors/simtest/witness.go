package simtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// witness tracks what the disk contains of one chat, independently of its actor.
type witness struct {
	sim   *Sim
	key   messages.ChatKey
	state *journal.State // nil if it was never read
	cache *prompt.Cache
	// under is set while a write is in progress, so that the contents are not known.
	under bool
	// troubled is set after a failed write until the chat is read again.
	troubled bool
	// crashed is set after a panic of the actor until it reads the chat again.
	crashed  bool
	touched  bool              // since the last check
	archived map[string]bool   // turns that a rewind removed
	away     map[string]string // turns in the archives of compactions, as JSON
	said     map[string]string // durable user turns, as JSON
	prefix   prefix
	rewinds  int
}

func (s *Sim) witness(key messages.ChatKey) *witness {
	w := s.witnesses[key]
	if w == nil {
		w = &witness{sim: s, key: key, archived: map[string]bool{}, away: map[string]string{}, said: map[string]string{}}
		s.witnesses[key] = w
		s.order = append(s.order, w)
	}
	return w
}

func (w *witness) fail(format string, args ...any) {
	w.sim.failf(string(w.key)+": "+format, args...)
}

func (w *witness) begin() { w.under = true }

// came records how a write ended; it returns false if, as far as known, the write did not happen.
func (w *witness) came(err error) bool {
	w.under = false
	w.touched = true
	w.troubled = err != nil
	if err != nil {
		w.sim.trace.addf("  write of %s failed", w.key)
	}
	return err == nil && w.state != nil
}

// loaded records what the store read: what was acknowledged must be in it.
func (w *witness) loaded(snap journal.Snapshot, err error) {
	if err != nil {
		w.troubled = true
		return
	}
	state, err := journal.Replay(snap)
	if err != nil {
		w.fail("P1 the chat cannot be replayed: %v", err)
		return
	}
	for _, d := range snap.Damage {
		w.sim.trace.addf("  %s damage: %+v", w.key, d)
	}
	for _, t := range slices.Concat(state.History, state.Lane) {
		if _, known := w.said[t.ID]; !known {
			w.keeps(t.Message)
		}
	}
	if w.troubled {
		w.learn(snap.Journal)
	}
	if w.troubled {
		w.excuse("a write failed")
	}
	if w.prefix.trimmed {
		w.excuse("what was left out is sent again after a load")
		w.prefix.trimmed = false
	}
	w.state, w.cache, w.under, w.troubled, w.touched, w.crashed = state, &prompt.Cache{}, false, false, true, false
}

// learn follows facts that may be durable although the write that held them failed.
func (w *witness) learn(records []journal.Record) {
	for _, r := range records {
		switch f := r.Fact.(type) {
		case journal.TurnReplaced:
			w.keeps(f.Turn)
		case journal.TurnsSettled:
			w.settled(f)
		default:
		}
	}
}

// settled records turns that were stopped before any model saw them.
func (w *witness) settled(f journal.TurnsSettled) {
	for _, t := range f.Fates {
		w.archived[t.TurnID] = true
	}
}

func (w *witness) appended(records []journal.Record, forced bool, err error) {
	if err != nil {
		w.sim.trace.addf("  %s: %v", w.key, err)
	}
	if !w.came(err) {
		return
	}
	for _, r := range records {
		w.before(r.Fact)
		if err := w.state.Apply(r); err != nil {
			w.fail("a fact does not fit: %v", err)
		}
		w.counts(r.Fact)
		w.sim.trace.addf("  %s %T forced %t", w.key, r.Fact, forced)
	}
}

// before checks a fact against the state before it.
func (w *witness) before(f journal.Fact) {
	switch f := f.(type) {
	case journal.RunStarted:
		if w.state.Run != nil && w.state.Run.ID != f.RunID {
			w.fail("P3 run %s begins while %s is under way", f.RunID, w.state.Run.ID)
		}
	case journal.StopRequested:
		if !w.sim.people.ordered(f) {
			w.fail("P8 run %s is stopped by %q, which nobody ordered", f.RunID, f.By)
		}
	case journal.RunFinished:
		if f.Result == journal.ResultStopped && (w.state.Run == nil || w.state.Run.Stop == nil) {
			w.fail("P8 run %s ends as stopped without a stop", f.RunID)
		}
		if f.Result == journal.ResultInterrupted && time.Since(time.UnixMilli(w.state.Run.Last)) < 10*time.Minute {
			w.fail("P11 run %s was given up early", f.RunID)
		}
	case journal.TurnsSettled:
		w.settled(f)
	case journal.ApprovalDecided:
		w.decided(f)
	case journal.EgressSent:
		w.sim.sent.receipt(f.MessageID)
	case journal.EgressSettled:
		for _, id := range f.Receipts {
			w.sim.sent.receipt(id)
		}
	default:
	}
}

// decided permits the execution of what a person approved.
func (w *witness) decided(f journal.ApprovalDecided) {
	if f.Answer != journal.AnswerApproved {
		return
	}
	if !w.sim.people.approved(f) {
		w.fail("P10 %s was approved by %q, who did not", f.ApprovalID, f.By)
	}
	parts := []uimessage.Part{}
	for _, t := range w.state.History {
		parts = append(parts, t.Parts...)
	}
	if w.state.Run != nil {
		parts = append(parts, w.state.Run.Parts...)
	}
	for _, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && t.Approval != nil && t.Approval.ID == f.ApprovalID {
			w.sim.permitted[number(t.Input)] = true
		}
	}
}

// number is the k of a call's input, or 0 without one.
func number(input json.RawMessage) int {
	var in struct {
		K int `json:"k"`
	}
	_ = json.Unmarshal(input, &in) // unreadable input has no number
	return in.K
}

// tells records that a history mentions a call: by its input, or by its id, which is all that
// remains of a quarantined one.
func (s *Sim) tells(c uimessage.Tool) {
	s.told[number(c.Input)] = true
	if k, err := strconv.Atoi(strings.TrimPrefix(c.ToolCallID, "c")); err == nil {
		s.told[k] = true
	}
}

// counts counts what a fact reports, and records what people said.
func (w *witness) counts(f journal.Fact) {
	stories := w.sim.stories
	switch f := f.(type) {
	case journal.TurnAccepted:
		w.keeps(f.Turn)
	case journal.TurnReplaced:
		w.keeps(f.Turn)
	case journal.TurnsMerged:
		stories["merged"]++
	case journal.StopRequested:
		stories["stopped"]++
	case journal.RunFinished:
		stories["run "+string(f.Result)]++
	case journal.ApprovalDecided:
		when := ""
		if f.Late {
			when = " late"
		}
		stories["request "+string(f.Answer)+when]++
	default:
	}
}

func (w *witness) added(turns []uimessage.Message, err error) {
	if !w.came(err) {
		return
	}
	for _, m := range turns {
		w.sim.trace.addf("  %s turn %s", w.key, m.ID)
		w.state.AppendOpen(journal.NewTurn(m))
		w.keeps(m)
	}
}

func (w *witness) checkpointed(_ journal.Checkpoint, err error) {
	if w.came(err) {
		w.state.Checkpoint(0) // gives the rest the same numbers as the actor does
		w.state.Checkpointed()
		w.sim.trace.addf("  %s checkpointed", w.key)
	}
}

func (w *witness) rewritten(r journal.Rewrite, c persistence.Chat, err error) {
	if !w.came(err) {
		return
	}
	taken := w.state.History[r.From:r.To]
	if compacts(r) {
		w.compacts(r)
		w.state.Rewritten(r)
		w.follow(c.ReadArchive)
		w.archivedWhole(taken)
		w.tell(taken)
		w.cache = &prompt.Cache{}
		return
	}
	if ages(r, taken) {
		w.agesNow(r, taken[0], c.ReadArchive)
		w.state.Rewritten(r)
		w.cache = &prompt.Cache{}
		return
	}
	w.gone(taken)
	w.tell(taken)
	w.rewinds++
	w.state.Rewritten(r)
	w.follow(c.ReadArchive)
	w.cache = &prompt.Cache{}
	w.sim.trace.addf("  %s cut at %d", w.key, r.From)
}

// gone records turns that a rewind or a switch of contexts removed, including those that a summary
// among them replaces.
func (w *witness) gone(turns []journal.Turn) {
	for _, t := range turns {
		w.archived[t.ID] = true
		if t.Meta.Kind == uimessage.KindSummary {
			for id := range w.away {
				w.archived[id] = true
			}
		}
	}
}

// tell records the outcomes of calls in turns that leave the history.
func (w *witness) tell(turns []journal.Turn) {
	for _, t := range turns {
		for _, p := range t.Parts {
			if c, ok := p.(uimessage.Tool); ok && c.State.Settled() {
				w.sim.tells(c)
			}
		}
	}
}

// check checks the guarantees against the current state.
func (w *witness) check() {
	if !w.touched || w.under || w.state == nil {
		return
	}
	w.touched = false
	w.conserved()
	w.ordered()
	w.whole(slices.Concat(w.state.History, w.state.Lane))
	w.valid()
	busy := w.state.Run != nil || w.troubled || w.crashed || w.sim.crash != ""
	if _, continues := w.state.Continues(); !busy && (continues || len(w.state.Open()) > 0 || len(w.state.Due()) > 0) {
		w.fail("P3 idle with %d waiting turns, %d decided calls", len(w.state.Open()), len(w.state.Due()))
	}
}

// conserved checks that accepted equals the sum of the fates and the open turns (P1).
func (w *witness) conserved() {
	c := w.state.Counts()
	sum := int64(len(w.state.Open()))
	for _, n := range c.Fates {
		sum += n
	}
	if c.Accepted != sum {
		w.fail("P1 accepted %d, fates %v and %d open", c.Accepted, c.Fates, len(w.state.Open()))
	}
}

// ordered checks that acknowledged turns exist once, in the order of arrival (P1).
func (w *witness) ordered() {
	last, seen := int64(0), map[string]bool{}
	turns := slices.Concat(w.state.History, w.state.Lane)
	for _, t := range turns {
		if seen[t.ID] {
			w.fail("P1 %s stands twice", t.ID)
		}
		seen[t.ID] = true
		if t.Role != uimessage.RoleUser {
			continue
		}
		if t.Meta.Seq <= last {
			w.fail("P1 %s has arrival number %d behind %d", t.ID, t.Meta.Seq, last)
		}
		last = t.Meta.Seq
	}
	for _, in := range w.sim.people.acked[w.key] {
		if in.turn != "" && !seen[in.turn] && !w.archived[in.turn] && w.away[in.turn] == "" {
			w.fail("P1 acknowledged %s is not in the history", in.turn)
		}
		if !w.state.Known(in.IngressID) {
			w.fail("P1 acknowledged %s is not known", in.IngressID)
		}
	}
}

// valid checks that the history converts to a request that the strictest provider accepts (P4),
// also with the current message as a crash would leave it.
func (w *witness) valid() {
	history := decision.ContentsOf(w.state.History)
	if len(history) == 0 {
		return
	}
	group := strings.HasPrefix(string(w.key), "telegram-chat--")
	converted := prompt.MessagesOf(prompt.History{Len: len(history), At: func(i int) *uimessage.Message { return &history[i] }}, prompt.Options{Group: group, Cache: w.cache})
	if len(converted) == 0 {
		return
	}
	if err := modeltest.Strict(model.Request{System: "x", Messages: converted}); err != nil {
		w.fail("P4 the history is not valid: %v", err)
	}
}
