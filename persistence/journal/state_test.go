package journal

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// disk is what a store keeps of one chat.
type disk struct {
	history []uimessage.Message
	journal []Record
	ledger  []LedgerEntry
	meta    Meta
}

func (d *disk) snapshot() Snapshot {
	s := Snapshot{History: slices.Clone(d.history), Journal: slices.Clone(d.journal), Meta: d.meta}
	for _, e := range d.ledger {
		s.LedgerN = max(s.LedgerN, e.N)
	}
	return s
}

// put appends or replaces a message, like reading the history file does.
func (d *disk) put(m uimessage.Message) {
	for i := range d.history {
		if d.history[i].ID == m.ID {
			d.history[i] = m
			return
		}
	}
	d.history = append(d.history, m)
}

// chatMachine applies everything that can happen to a chat to a state and its disk, including crashes at every step of
// a checkpoint.
type chatMachine struct {
	disk  disk
	state *State
	turns int
	ids   int
}

func (c *chatMachine) id(kind string) string {
	c.ids++
	return fmt.Sprintf("%s%d", kind, c.ids)
}

func (c *chatMachine) do(t *rapid.T, facts ...Fact) {
	records := c.state.Next(int64(c.ids), facts...)
	c.disk.journal = append(c.disk.journal, records...)
	for _, r := range records {
		if err := c.state.Apply(r); err != nil {
			t.Fatalf("apply %T: %v", r.Fact, err)
		}
	}
}

func (c *chatMachine) userTurn() Turn {
	c.turns++
	meta := uimessage.Metadata{Seq: c.state.Seq + 1, IngressID: fmt.Sprintf("in%d", c.turns), RequestID: "q", UserID: "7"}
	return NewTurn(uimessage.Message{
		ID: fmt.Sprintf("u%d", c.turns), Role: uimessage.RoleUser, Metadata: meta.Append(nil),
		Parts: []uimessage.Part{uimessage.Text{Text: fmt.Sprintf("words %d", c.turns)}},
	})
}

func (c *chatMachine) Arrive(t *rapid.T) {
	turn := c.userTurn()
	if c.state.Clean() {
		c.disk.history = append(c.disk.history, turn.Message)
		c.state.AppendOpen(turn)
		return
	}
	c.do(t, TurnAccepted{Turn: turn.Message})
}

func (c *chatMachine) Ignore(t *rapid.T) {
	c.turns++
	in := Ingress{ID: fmt.Sprintf("in%d", c.turns), Seq: c.state.Seq + 1}
	c.do(t, IngressSettled{Ingress: in, Fate: FateIgnored, Reason: "unaddressed"})
}

func (c *chatMachine) Start(t *rapid.T) {
	if c.state.Run != nil || len(c.state.Open()) == 0 || len(c.state.Due()) > 0 {
		t.Skip("nothing to run")
	}
	if _, ok := c.state.Continues(); ok {
		t.Skip("the last message goes on first")
	}
	c.do(t, RunStarted{RunID: c.id("r"), MessageID: c.id("a"), RequestID: "q", Attempt: 1})
}

func (c *chatMachine) Step(t *rapid.T) {
	run := c.running(t)
	call := c.id("call")
	part := uimessage.Tool{ToolCallID: call, Name: "x", State: uimessage.ToolInputAvailable, Input: []byte(`{}`)}
	c.do(t, StepResponded{RunID: run.ID, MessageID: run.MessageID, Step: run.Step + 1, From: len(run.Parts), Parts: []uimessage.Part{uimessage.StepStart{}, part}},
		ToolStarted{RunID: run.ID, CallID: call})
	if rapid.Bool().Draw(t, "outcome") {
		part.State, part.Output = uimessage.ToolOutputAvailable, []byte(`1`)
		c.do(t, ToolFinished{RunID: run.ID, MessageID: run.MessageID, Part: part})
	}
}

func (c *chatMachine) Send(t *rapid.T) {
	run := c.running(t)
	key := RowKey{MessageID: run.MessageID, N: run.Egress + 1}
	c.do(t, EgressQueued{Row: Row{Key: key, RunID: run.ID, CallID: c.id("send"), Text: "hi"}})
}

func (c *chatMachine) Merge(t *rapid.T) {
	run := c.running(t)
	if len(c.state.Lane) == 0 {
		t.Skip("nobody waits")
	}
	closed := c.finish(run, "", nil).f.Message
	f := TurnsMerged{RunID: run.ID, Step: run.Step + 1, Closed: closed, MessageID: c.id("a")}
	for _, t := range c.state.Lane {
		f.Turns = append(f.Turns, t.ID)
	}
	c.do(t, f)
}

func (c *chatMachine) Finish(t *rapid.T) { c.finish(c.running(t), ResultDone, nil).do(t) }

// Ask ends a run with a call that waits for a person.
func (c *chatMachine) Ask(t *rapid.T) {
	run := c.running(t)
	call := uimessage.Tool{
		ToolCallID: c.id("call"), Name: "rm", State: uimessage.ToolApprovalRequested, Input: []byte(`{}`),
		Approval: &uimessage.Approval{ID: c.id("ap")},
	}
	c.finish(run, ResultWaiting, &call).do(t)
}

// finishing is the end of a run that is about to be written.
type finishing struct {
	c *chatMachine
	f RunFinished
}

func (f finishing) do(t *rapid.T) { f.c.do(t, f.f) }

// finish ends a run like a chat does, keeping what the message already contained.
func (c *chatMachine) finish(run *Run, result Result, ask *uimessage.Tool) finishing {
	var fates []Settled
	base, _ := c.state.Turn(run.MessageID)
	meta := uimessage.Metadata{RunID: run.ID, Result: string(result), Seq: c.state.Seq, Fates: slices.Clone(base.Meta.Fates)}
	if result == "" { // closed by a merge
		meta.Result = base.Meta.Result
	}
	for _, v := range run.Visible {
		if result == "" {
			break
		}
		fates = append(fates, Settled{TurnID: v.TurnID, Fate: FateAnswered, RunID: run.ID})
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: v.TurnID, Fate: FateAnswered, RunID: run.ID})
	}
	parts, requests := run.Parts, base.Requests
	if ask != nil {
		parts = append(slices.Clone(parts), uimessage.StepStart{}, *ask)
		requests = append(slices.Clone(requests), Request{ID: ask.Approval.ID, CallID: ask.ToolCallID, N: c.state.NextRequest()})
	}
	meta = WithRequests(meta, requests, run.Egress+1)
	turn := NewTurn(uimessage.Message{ID: run.MessageID, Role: uimessage.RoleAssistant, Parts: parts, Metadata: meta.Append(nil)})
	for _, a := range run.Answers {
		a.Late = len(c.state.Lane) > 0
		turn = turn.Decide(a.ApprovalDecided, a.At)
	}
	rows := []Row{{Key: RowKey{run.MessageID, run.Egress + 1}, Text: "answer"}}
	return finishing{c, RunFinished{RunID: run.ID, Message: turn.Message, Result: result, Fates: fates, Rows: rows}}
}

// Decide gives any answer to an open request, sometimes twice.
func (c *chatMachine) Decide(t *rapid.T) {
	all := c.state.Requests(func(r Request) bool { return r.Answer == AnswerOpen || r.N%3 == 0 })
	if len(all) == 0 {
		t.Skip("nobody asked")
	}
	a := all[rapid.IntRange(0, len(all)-1).Draw(t, "request")]
	f := ApprovalDecided{
		MessageID: a.Turn.ID, ApprovalID: a.Request.ID, Late: !c.state.IsLast(a.Turn.ID) || c.state.Run != nil && c.state.Run.MessageID != a.Turn.ID,
		Answer: rapid.SampledFrom([]Answer{AnswerApproved, AnswerDenied, AnswerExpired, AnswerWithdrawn}).Draw(t, "answer"),
	}
	if rapid.Bool().Draw(t, "in words") {
		c.turns++
		f.Ingress = &Ingress{ID: fmt.Sprintf("in%d", c.turns), Seq: c.state.Seq + 1}
	}
	c.do(t, f)
	if !c.closed(a.Request.ID) {
		t.Fatalf("request %s is open after its answer", a.Request.ID)
	}
}

func (c *chatMachine) closed(id string) bool {
	return !slices.ContainsFunc(c.state.OpenRequests(), func(a Asked) bool { return a.Request.ID == id })
}

// GoOn carries out decided calls: in their own message if it is the last one, otherwise in a new one, possibly during
// a run.
func (c *chatMachine) GoOn(t *rapid.T) {
	if _, ok := c.state.Continues(); c.state.Run != nil || !ok {
		c.copyDue(t)
	}
	if last, ok := c.state.Continues(); ok && c.state.Run == nil {
		c.do(t, RunStarted{RunID: c.id("r"), MessageID: last.ID, Attempt: 1})
	}
	run := c.running(t)
	for _, p := range run.Parts {
		if call, ok := p.(uimessage.Tool); ok && call.State == uimessage.ToolApprovalResponded {
			call.State, call.Output = uimessage.ToolOutputAvailable, []byte(`1`)
			c.do(t, ToolStarted{RunID: run.ID, CallID: call.ToolCallID}, ToolFinished{RunID: run.ID, MessageID: run.MessageID, Part: call})
		}
	}
}

func (c *chatMachine) copyDue(t *rapid.T) {
	due, run := c.state.Due(), c.state.Run
	if len(due) == 0 {
		return
	}
	copied := OutcomeBegun{Message: uimessage.Message{ID: c.id("a"), Role: uimessage.RoleAssistant, Metadata: []byte(`{"seq":1}`)}}
	for _, a := range due {
		call, _ := a.Turn.Call(a.Request.CallID)
		call.ToolCallID, call.State = c.id("copy"), uimessage.ToolApprovalResponded
		copied.Message.Parts = append(copied.Message.Parts, call)
		copied.Of = append(copied.Of, RequestKey{a.Turn.ID, a.Request.ID})
	}
	if run == nil {
		c.do(t, copied)
	} else {
		f := TurnsMerged{RunID: run.ID, Step: run.Step + 1, Closed: c.finish(run, "", nil).f.Message, MessageID: copied.Message.ID}
		for _, l := range c.state.Lane {
			f.Turns = append(f.Turns, l.ID)
		}
		c.do(t, f, copied)
	}
	if len(c.state.Due()) > 0 {
		t.Fatalf("still due after its copy: %d", len(c.state.Due()))
	}
}

func (c *chatMachine) Receipt(t *rapid.T) {
	if len(c.state.Outbox) == 0 {
		t.Skip("nothing owed")
	}
	row := c.state.Outbox[rapid.IntRange(0, len(c.state.Outbox)-1).Draw(t, "row")]
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 3:
		c.do(t, EgressRetried{Key: row.Key, By: "op"})
	case 4:
		c.do(t, EgressSettled{Key: row.Key, Outcome: EgressDropped, By: "op"})
	case 0:
		c.do(t, EgressSent{Key: row.Key, Part: len(row.Sent), MessageID: c.id("m")})
	case 1:
		c.do(t, EgressSettled{Key: row.Key, Outcome: EgressDelivered, Receipts: []string{"m"}})
	default:
		c.do(t, EgressSettled{Key: row.Key, Outcome: EgressParked, Reason: "forbidden", Tries: 3, Maybe: row.Maybe || rapid.Bool().Draw(t, "maybe")})
	}
}

// Crash records a crash during a run or while handling an ingress.
func (c *chatMachine) Crash(t *rapid.T) {
	f := Crashed{IngressID: fmt.Sprintf("in%d", rapid.IntRange(c.turns+1, c.turns+2).Draw(t, "ingress"))}
	if c.state.Run != nil {
		f = Crashed{RunID: c.state.Run.ID}
	}
	c.do(t, f)
}

// Park quarantines an ingress that never became a turn, or a turn of the run, which then ends.
func (c *chatMachine) Park(t *rapid.T) {
	if run := c.state.Run; run != nil {
		for _, v := range run.Visible {
			turn, _ := c.state.Turn(v.TurnID)
			c.do(t, TurnQuarantined{Turn: turn.Message})
		}
		c.finish(run, ResultFailed, nil).do(t)
		return
	}
	turn := c.userTurn()
	c.do(t, TurnQuarantined{Turn: turn.Message, Ingress: &Ingress{ID: turn.Meta.IngressID, Seq: turn.Meta.Seq}})
}

// Unpark retries or drops a quarantined turn.
func (c *chatMachine) Unpark(t *rapid.T) {
	if len(c.state.Quarantine) == 0 {
		t.Skip("nothing was put aside")
	}
	p := c.state.Quarantine[rapid.IntRange(0, len(c.state.Quarantine)-1).Draw(t, "turn")]
	f := TurnReleased{TurnID: p.Turn.ID, Outcome: EgressDropped}
	if rapid.Bool().Draw(t, "retry") {
		again := c.userTurn().Message
		f.Outcome, f.Turn = ParkRetried, &again
	}
	c.do(t, f)
}

// Chain adds a message of a bot or of another chat.
func (c *chatMachine) Chain(t *rapid.T) {
	depth := c.state.Depth + 1
	switch rapid.IntRange(0, 2).Draw(t, "who") {
	case 0: // declined
		c.turns++
		c.do(t, IngressSettled{Ingress: Ingress{ID: fmt.Sprintf("in%d", c.turns), Seq: c.state.Seq + 1, Depth: depth}, Fate: FateDeclined})
	case 1:
		c.do(t, EgressQueued{Row: Row{Key: RowKey{c.id("x"), 1}, Text: "from afar", Depth: depth, Seq: c.state.Seq}})
	default:
		turn := c.userTurn()
		turn.Meta.Depth, turn.Meta.TS = depth, int64(c.turns)
		turn.Metadata = turn.Meta.Append(nil)
		if c.state.Clean() {
			c.disk.history = append(c.disk.history, turn.Message)
			c.state.AppendOpen(turn)
			return
		}
		c.do(t, TurnAccepted{Turn: turn.Message})
	}
}

func (c *chatMachine) running(t *rapid.T) *Run {
	if c.state.Run == nil {
		t.Skip("no run")
	}
	return c.state.Run
}

// Checkpoint makes a checkpoint. A crash may follow any of its steps.
func (c *chatMachine) Checkpoint(t *rapid.T) {
	if c.state.Run != nil {
		t.Skip("a run is under way")
	}
	f := c.state.Checkpoint(int64(c.ids))
	crash := rapid.IntRange(0, len(f.History)+3).Draw(t, "crash")
	for i, m := range f.History {
		if crash == i {
			c.crash(t)
			return
		}
		c.disk.put(m)
	}
	if crash == len(f.History) {
		c.crash(t)
		return
	}
	c.disk.ledger = append(c.disk.ledger, f.Ledger...)
	if crash == len(f.History)+1 {
		c.crash(t)
		return
	}
	c.disk.meta = f.Meta
	if crash == len(f.History)+2 {
		c.crash(t)
		return
	}
	c.disk.journal = slices.Clone(f.Rest)
	c.state.Checkpointed()
}

func (c *chatMachine) crash(t *rapid.T) {
	s, err := Replay(c.disk.snapshot())
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	c.compare(t, s)
	c.state = s
}

func (c *chatMachine) compare(t *rapid.T, s *State) {
	if diff := cmp.Diff(picture(c.state), picture(s)); diff != "" {
		t.Fatalf("the state after a crash differs (-before +after):\n%s", diff)
	}
}

// picture returns the part of a state that a crash must not change.
func picture(s *State) map[string]any {
	var history, lane, outbox []string
	for _, t := range s.History {
		history = append(history, string(uimessage.AppendJSON(nil, t.Message)))
	}
	for _, t := range s.Lane {
		lane = append(lane, t.ID)
	}
	for _, r := range s.Outbox {
		// A row that is not parked may have been sent by the process that ended.
		outbox = append(outbox, fmt.Sprint(r.Key, r.Sent, r.Parked, r.Queued, r.Tries, r.Maybe && r.Parked))
	}
	var aside []string
	for _, p := range s.Quarantine {
		aside = append(aside, fmt.Sprint(p.At, string(uimessage.AppendJSON(nil, p.Turn.Message))))
	}
	for _, st := range s.crashes {
		aside = append(aside, fmt.Sprint(st))
	}
	run := ""
	if s.Run != nil {
		run = fmt.Sprint(s.Run.ID, s.Run.MessageID, s.Run.Step, len(s.Run.Parts), s.Run.Visible, s.Run.Egress, s.Run.Begun, s.Run.Base, s.Run.Answers)
	}
	counts := s.Counts()
	return map[string]any{"aside": aside, "depth": []int64{s.Depth, s.DepthAt}, "history": history, "lane": lane, "outbox": outbox, "run": run, "seq": s.Seq, "fates": maps.Clone(counts.Fates)}
}

// Check verifies after every step that the counts balance and that a crash would change nothing.
func (c *chatMachine) Check(t *rapid.T) {
	counts := c.state.Counts()
	var fates int64
	for _, n := range counts.Fates {
		fates += n
	}
	if open := int64(len(c.state.Open())); counts.Accepted != fates+open || counts.Accepted != int64(c.turns) {
		t.Fatalf("accepted %d, arrived %d, fates %v, open %d", counts.Accepted, c.turns, counts.Fates, open)
	}
	seen := map[string]bool{}
	for _, turn := range c.state.History {
		if seen[turn.ID] {
			t.Fatalf("turn %s is in the history twice", turn.ID)
		}
		seen[turn.ID] = true
	}
	s, err := Replay(c.disk.snapshot())
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	c.compare(t, s)
}

func TestStateSurvivesEveryCrash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Replay(Snapshot{})
		stdtest.Must(t, err)
		c := &chatMachine{state: s}
		t.Repeat(map[string]func(*rapid.T){
			"arrive": c.Arrive, "ignore": c.Ignore, "start": c.Start, "step": c.Step, "send": c.Send,
			"merge": c.Merge, "finish": c.Finish, "receipt": c.Receipt, "checkpoint": c.Checkpoint,
			"stumble": c.Crash, "park": c.Park, "unpark": c.Unpark, "chain": c.Chain,
			"ask": c.Ask, "decide": c.Decide, "go on": c.GoOn, "": c.Check,
		})
	})
}

func TestDuplicateIngressIsKnownAfterACheckpoint(t *testing.T) {
	s, _ := Replay(Snapshot{})
	for i := range maxIngressIDs + 10 {
		s.ids.add(fmt.Sprint("in", i))
	}
	f := s.Checkpoint(0)
	again, err := Replay(Snapshot{Meta: f.Meta})
	stdtest.Must(t, err)
	if got := len(f.Meta.IngressIDs); got != maxIngressIDs {
		t.Errorf("remembered %d ids, want %d", got, maxIngressIDs)
	}
	if again.Known("in0") || !again.Known(fmt.Sprint("in", maxIngressIDs+9)) {
		t.Error("want the newest ids to be known and the oldest forgotten")
	}
}
